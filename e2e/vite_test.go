package e2e_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

// The project examples/vite-typescript, as somebody has it who has installed the package: its types are right, Vite
// builds it, and its worker answers and can be cancelled.
func TestViteProject(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, example := range []string{"vite-typescript", "c-fetch"} {
		if err := os.CopyFS(filepath.Join(dir, example), os.DirFS("../examples/"+example)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "node_modules"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"fiberfill": "web/dist/npm", "vite": "node_modules/vite"} {
		if err := os.Symlink(filepath.Join(root, target), filepath.Join(dir, "node_modules", name)); err != nil {
			t.Fatal(err)
		}
	}
	project := filepath.Join(dir, "vite-typescript")
	for _, command := range [][]string{{"tsc"}, {"vite", "build", "--logLevel=warn"}} {
		tool := exec.Command(filepath.Join(root, "node_modules/.bin", command[0]), command[1:]...)
		tool.Dir = project
		if out, err := tool.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%v: %v\n%s", command, err, out)
		}
	}
	tab := open(t, "index.html", func(o *webserver.Options) {
		o.Files = map[string]fs.FS{"/": os.DirFS(filepath.Join(project, "dist"))}
	})
	// What the page says when it has ordered, and each of the buttons has been pressed.
	const said = `async (...buttons) => {
		const status = document.querySelector("[role=status]");
		for (const id of buttons) document.getElementById(id).click();
		while (!status.textContent) await new Promise(requestAnimationFrame);
		return status.textContent;
	}`
	for _, c := range []struct {
		buttons []any
		want    string
	}{
		{[]any{"start"}, "1000 fibers, sum " + sumOfItems(1000)},
		{[]any{"start", "cancel"}, "failed: cancelled by the page"},
		{[]any{"start"}, "1000 fibers, sum " + sumOfItems(1000)},
	} {
		var got string
		tab.Eval(t, said, &got, c.buttons...)
		if got != c.want {
			t.Errorf("after %v the page says %q, want %q", c.buttons, got, c.want)
		}
	}
}
