package oracle

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
)

const root = "../../.."

// atLeast is how many stack-switching instructions the programs of a run execute; FIBERFILL_OPERATIONS overrides it.
const atLeast = 1_000_000

// regressions are the seeds of programs that have disagreed once.
var regressions = []uint64{}

// Random programs do through fiberfill/webassembly what the interpreter says. FIBERFILL_SEED is the first seed.
func TestProgramsAgree(t *testing.T) {
	want := atLeast
	if n, err := strconv.Atoi(os.Getenv("FIBERFILL_OPERATIONS")); err == nil {
		want = n
	}
	first, _ := strconv.ParseUint(os.Getenv("FIBERFILL_SEED"), 10, 64)
	if len(regressions) > 0 {
		agree(t, regressions)
	}
	parts := runtime.NumCPU()
	for part := range parts {
		t.Run(fmt.Sprintf("part %d of %d", part+1, parts), func(t *testing.T) {
			t.Parallel()
			seed := first + uint64(part)
			for operations := 0; operations < (want+parts-1)/parts && !t.Failed(); {
				seeds := make([]uint64, 200)
				for i := range seeds {
					seeds[i] = seed
					seed += uint64(parts)
				}
				operations += agree(t, seeds)
			}
		})
	}
}

type program struct {
	Modules [][]byte       `json:"modules"`
	Calls   []call         `json:"calls"`
	Tags    map[string]int `json:"tags"` // of exceptions: how many parameters they have
}

type call struct {
	F    int     `json:"f"`
	Args []int32 `json:"args"`
	Fuel int     `json:"fuel"`
}

// agree runs the programs of some seeds in a process and compares. It returns how many operations they have executed.
func agree(t *testing.T, seeds []uint64) (operations int) {
	t.Helper()
	var wanted [][]string
	var lines bytes.Buffer
	for _, seed := range seeds {
		p := Generate(seed)
		made := program{Modules: Encode(p), Tags: map[string]int{}}
		for _, c := range p.Calls {
			made.Calls = append(made.Calls, call{c.Func, c.Args, fuel})
		}
		for i, tag := range p.Tags {
			if s := p.Signatures[tag.Signature]; len(s.Results) == 0 {
				made.Tags[strconv.Itoa(i)] = len(s.Params)
			}
		}
		line, err := json.Marshal(made)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
		log, ops := Run(p)
		wanted = append(wanted, log)
		operations += ops
	}
	for i, got := range run(t, lines.Bytes()) {
		if !slices.Equal(got, wanted[i]) {
			t.Errorf("seed %d: %s", seeds[i], difference(got, wanted[i]))
		}
	}
	return operations
}

func difference(got, want []string) string {
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	text := func(list []string) string {
		if i == len(list) {
			return "the end"
		}
		return list[i]
	}
	return "line " + strconv.Itoa(i) + " is " + text(got) + ", want " + text(want)
}

// run has Node run programs, and returns the log of each.
func run(t *testing.T, programs []byte) (logs [][]string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "programs.json")
	if err := os.WriteFile(file, programs, 0o666); err != nil {
		t.Fatal(err)
	}
	namespace, err := filepath.Abs(filepath.Join(root, "web/dist/npm/esm/webassembly.js"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(namespace); err != nil {
		t.Fatalf("%v: `make build` makes it", err)
	}
	c := exec.Command(filepath.Join(root, "node_modules/.bin/node"), "testdata/run.mjs", namespace, file)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("node: %v", err)
	}
	for reader := bufio.NewReader(bytes.NewReader(out)); ; {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			return logs
		}
		var log []string
		if err := json.Unmarshal(line, &log); err != nil {
			t.Fatalf("node printed %q", line)
		}
		logs = append(logs, log)
	}
}
