package e2e_test

import (
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fiberfill/fiberfill/internal/webserver"
	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/conformance"
)

var (
	seed    = flag.Uint64("seed", 0, "seed of the random conformance scripts; 0: a new one")
	scripts = flag.Int("scripts", 2000, "random conformance scripts to play, over all systems")
)

// exempt lists the parts of the suite that JSPI in Chromium cannot pass: none. The engine itself knows where frames of
// the host are, and an exception that rejects a promise arrives with its identity.
var exempt = map[string]string{}

// TestConformance plays every case of the suite, the matrix of operations and states, and random scripts, in Chromium.
// The players are guests of the script tag, and each computation has a JSPI stack of its own.
func TestConformance(t *testing.T) {
	t.Parallel()
	start := *seed
	if start == 0 {
		start = uint64(time.Now().UnixNano())
	}
	list := suite(t)
	var random []conformance.Script
	for i, s := range conformance.Systems {
		r := rand.New(rand.NewPCG(start, uint64(i)))
		for range *scripts / 4 {
			random = append(random, conformance.Random(s, r, 100))
		}
	}
	j := play(t, append(list, random...))
	// Check itself plays the first of the random scripts.
	t.Run("suite", func(t *testing.T) { conformance.Check(t, j, exempt, start, 0) })
	t.Run("random", func(t *testing.T) {
		t.Logf("%d scripts; replay with: go test ./e2e -run TestConformance -seed %d", len(random), start)
		for _, s := range random {
			if _, err := conformance.Duel(j, s); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// The same in the other browsers, with only the random scripts that Check plays itself.
func TestConformanceInOthers(t *testing.T) {
	t.Parallel()
	list := suite(t)
	for i, s := range conformance.Systems {
		list = append(list, conformance.Random(s, rand.New(rand.NewPCG(1, uint64(i))), 100))
	}
	keys, encoded := encodeAll(t, list)
	text, err := json.Marshal(map[string]any{"scripts": encoded, "traps": words()})
	if err != nil {
		t.Fatal(err)
	}
	check := func(t *testing.T, results []result) {
		j := jspi{}
		for i, r := range results {
			j[keys[i]] = r
		}
		conformance.Check(t, j, exempt, 1, 0)
	}
	inOthers(t, "jspi.html", "jspi.all", check, policy, player, func(o *webserver.Options) {
		o.Files["/scripts/"] = fstest.MapFS{"all.json": {Data: text}}
	})
}

// suite returns the scripts of the cases and of the matrix.
func suite(t *testing.T) (list []conformance.Script) {
	cases, err := conformance.Suite()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		list = append(list, c.Script)
	}
	cells, err := conformance.Matrix()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cells {
		list = append(list, c.Script)
	}
	return list
}

func player(o *webserver.Options) { o.Files["/player/"] = os.DirFS("../polyfill/conformance/player") }

// jspi is the substrate: the results of the scripts that were played, by system and bytes.
type jspi map[string]result

type result struct {
	Trace []byte
	Error string
}

type script struct {
	System string `json:"system"`
	Script []byte `json:"script"`
}

func (jspi) Name() string { return "jspi" }

// Play implements [conformance.Substrate], for scripts that were played before.
func (j jspi) Play(s conformance.Script) ([]conformance.Outcome, error) {
	key, _, err := encode(s)
	if err != nil {
		return nil, err
	}
	switch r, ok := j[key]; {
	case !ok:
		return nil, errors.New("this script has not been played")
	case r.Error != "":
		return nil, errors.New(r.Error)
	default:
		return conformance.Decode(r.Trace)
	}
}

func encode(s conformance.Script) (key string, encoded script, err error) {
	bytes, err := conformance.Encode(s)
	encoded = script{string(s.System), bytes}
	return encoded.System + string(bytes), encoded, err
}

func encodeAll(t *testing.T, list []conformance.Script) (keys []string, encoded []script) {
	for _, s := range list {
		key, e, err := encode(s)
		if err != nil {
			t.Fatal(err)
		}
		keys, encoded = append(keys, key), append(encoded, e)
	}
	return keys, encoded
}

// play plays scripts, a hundred at a time and a thousand in each tab, because a tab never gets back everything that an
// ended stack used.
func play(t *testing.T, list []conformance.Script) jspi {
	const inTab, atOnce = 1000, 100
	j := jspi{}
	var in *tab
	for i := 0; i < len(list); i += atOnce {
		if i%inTab == 0 {
			in = open(t, "jspi.html", policy, player)
		}
		keys, encoded := encodeAll(t, list[i:min(i+atOnce, len(list))])
		var results []result
		in.Eval(t, "jspi.play", &results, encoded, words())
		for k, r := range results {
			j[keys[k]] = r
		}
	}
	return j
}

// words are the messages of all traps, by number.
func words() (list []string) {
	for trap := polyfill.OK; trap <= polyfill.Unreachable; trap++ {
		list = append(list, trap.String())
	}
	return list
}
