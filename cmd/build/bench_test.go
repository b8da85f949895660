package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Every contestant runs all its workloads, small ones, in Node. The workloads check the answers; the test checks that
// every figure comes.
func TestBenchContestants(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	defer os.Chdir(dir)
	if err := enterRoot(); err != nil {
		t.Fatal(err)
	}
	if err := prepareBench(); err != nil {
		t.Fatal(err)
	}
	if err := prepareCosts(); err != nil {
		t.Fatal(err)
	}
	node, err := npmTool("node")
	if err != nil {
		t.Fatal(err)
	}
	all := []string{"fiberfill", "raw", "asyncify", "await", "channels"}
	operations := []string{
		"fibers1.new", "fibers1.spawn", "fibers1.resume", "fibers1.resume_inside", "fibers1.switch",
		"fibers1.retire", "fibers1.exception",
		"fibers2.mount", "stacks.switch", "stacks.bind", "cont.resume", "cont.forward",
	}
	costs := func(operations ...string) string {
		list, _ := json.Marshal(operations)
		return `"workload":"costs","samples":1,"warmup":0,"millis":1,"operations":` + string(list)
	}
	for _, c := range []struct {
		job         string
		contestants []string
		want        []string
	}{
		{costs(operations...),
			[]string{"fiberfill", "unwound", "plain", "go", "native go", "native wazero"}, operations},
		{costs("pull"), []string{"go", "native go"}, []string{"pull"}},
		{`"workload":"alive","limit":2000`, []string{"native go"}, []string{"alive", "alive-bytes", "alive-gb"}},
		{`"workload":"switch","sizes":[1,10],"steps":100,"samples":1,"warmup":0`, append(all, "ring"),
			[]string{"switch-1", "switch-10"}},
		{`"workload":"start","sizes":[1,1100],"calls":10,"samples":1,"warmup":1`, all,
			[]string{"start-1", "start-1-cold", "start-1100", "start-1100-cold"}},
		{`"workload":"compute","samples":1,"warmup":0`, nil, []string{"compute"}},
		{`"workload":"first"`, all, []string{"first"}},
		{`"workload":"alive","limit":2100,"seconds":60`, all, []string{"alive"}},
		{`"workload":"calls","limit":3000,"seconds":60`, all, []string{"calls"}},
	} {
		groups := [][]string{all} // all in one process
		if c.contestants != nil {
			groups = slices.Collect(slices.Chunk(c.contestants, 1))
		}
		for _, group := range groups {
			command := []string{node, "node.js"}
			if who, ok := strings.CutPrefix(group[0], "native "); ok {
				group, command = []string{who}, []string{"./costs.exe"}
			}
			names, _ := json.Marshal(group)
			run := exec.Command(command[0], append(command[1:], `{"contestants":`+string(names)+`,`+c.job+`}`)...)
			run.Dir = benchDir
			run.Stderr = os.Stderr
			text, err := run.Output()
			if err != nil {
				t.Errorf("%s %v: %v", c.job, group, err)
				continue
			}
			lines := strings.Split(strings.TrimSpace(string(text)), "\n")
			var measured map[string]map[string][]float64
			if err := json.Unmarshal([]byte(lines[len(lines)-1]), &measured); err != nil {
				t.Errorf("%s %v: %v in %s", c.job, group, err, text)
			}
			for _, contestant := range group {
				for _, name := range c.want {
					if samples := measured[contestant][name]; len(samples) == 0 || samples[0] <= 0 {
						t.Errorf("%s: %s of %s is %v", c.job, name, contestant, samples)
					}
				}
			}
		}
	}
}
