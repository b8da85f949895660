//go:build !js

package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// job has the fields of package bench's Job that matter here.
type job struct {
	Workload    string
	Contestants []string
	Operations  []string
	Samples     int
	Warmup      int
	Millis      int
	Limit       int
}

// main measures one job and prints the result: costs '<job as JSON>'. It runs in the folder that bench/js was copied
// to.
func main() {
	measured, err := measure(os.Args[1:])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(measured)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "costs:", err)
		os.Exit(1)
	}
}

// measure returns samples by contestant and name.
func measure(args []string) (map[string]map[string][]float64, error) {
	var j job
	if len(args) != 1 {
		return nil, fmt.Errorf("usage: costs '<job as JSON>'")
	}
	if err := json.Unmarshal([]byte(args[0]), &j); err != nil {
		return nil, err
	}
	if len(j.Contestants) != 1 {
		return nil, fmt.Errorf("a job is for one contestant, not for %q", j.Contestants)
	}
	var samples map[string][]float64
	var err error
	switch who := j.Contestants[0]; {
	case j.Workload == "costs" && who == "go":
		samples, err = costs(j, perform)
	case j.Workload == "costs" && who == "wazero":
		guests := guests{}
		defer guests.close()
		samples, err = costs(j, guests.perform)
	case j.Workload == "alive" && who == "go":
		samples, err = alive(j.Limit)
	default:
		err = fmt.Errorf("there is no contestant %q with a workload %q", who, j.Workload)
	}
	return map[string]map[string][]float64{j.Contestants[0]: samples}, err
}

func perform(name string, n int) (int, error) {
	operation, ok := operations[name]
	if !ok {
		return 0, fmt.Errorf("there is no operation %q", name)
	}
	return operation(n)
}
