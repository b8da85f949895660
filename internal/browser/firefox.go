package browser

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
)

// Preferences that keep a fresh Firefox from opening pages of its own, from contacting its maker's servers, and from
// looking for add-ons, which takes half a second.
const firefoxPreferences = `
user_pref("app.normandy.enabled", false);
user_pref("app.update.disabledForTesting", true);
user_pref("browser.aboutwelcome.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("browser.startup.homepage_override.mstone", "ignore");
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("datareporting.policy.firstRunURL", "");
user_pref("extensions.enabledScopes", 0);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("toolkit.telemetry.reportingpolicy.firstRun", false);
`

// Firefox opens url in a headless Firefox with an empty profile, and returns what result returns. The page must send
// its result itself, typically by a POST to the server it came from; result waits for that. The context of result ends
// when ctx does, or when Firefox exits early. When the function Firefox returns, the browser has exited and its profile
// is removed.
func Firefox(ctx context.Context, url string, result func(context.Context) ([]byte, error)) ([]byte, error) {
	path, err := find("FIREFOX", "firefox-esr", "firefox-esr", "firefox")
	if err != nil {
		return nil, err
	}
	profile, err := os.MkdirTemp("", "fiberfill-firefox-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(profile)
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(firefoxPreferences), 0o600); err != nil {
		return nil, err
	}

	ctx, stop, err := start(ctx, func(c *exec.Cmd) { c.Env = append(os.Environ(), "MOZ_CRASHREPORTER_DISABLE=1") },
		path, "--headless", "--no-remote", "--profile", profile, url)
	if err != nil {
		return nil, err
	}
	defer stop()
	return result(ctx)
}
