package e2e_test

import (
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

// The harness notices what it must notice. Otherwise the other tests could not fail.

func TestHarnessSeesWhatEscapes(t *testing.T) {
	tab := open(t, "raw.html")
	tab.Eval(t, `raw.letEscape`, nil)
	if texts := tab.Escaped(t); len(texts) != 1 || !strings.Contains(texts[0], "nobody listens") {
		t.Errorf("escaped: %q", texts)
	}
}

func TestHarnessSeesWhatEscapesInOthers(t *testing.T) {
	for _, engine := range others {
		var got int
		err := callIn(t, engine, "raw.html", "raw.letEscape", &got)
		if err == nil || !strings.Contains(err.Error(), "escaped: Error: nobody listens") {
			t.Errorf("%s: error = %v, and it returned %d", engine, err, got)
		}
	}
}

func TestHarnessCountsTraffic(t *testing.T) {
	tab := open(t, "raw.html")
	tab.Eval(t, `raw.ask`, nil, 7)
	now := tab.Traffic(t, func(now webserver.Stats) bool { return now.Requests == 1 && now.InFlight == 0 })
	if now.MostInFlight != 1 || now.Abandoned != 0 {
		t.Errorf("traffic: %+v", now)
	}
}
