package bench

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Job is what one process measures. See js/workloads.js, and costs for what is measured natively.
type Job struct {
	Workload    string   `json:"workload"`
	Contestants []string `json:"contestants"`          // one, but for compute and fetch
	Operations  []string `json:"operations,omitempty"` // costs: measured in turn
	Sizes       []int    `json:"sizes,omitempty"`
	Samples     int      `json:"samples,omitempty"`
	Warmup      int      `json:"warmup"`            // samples before those that count; start: waves, of 1,000 at most
	Steps       int      `json:"steps,omitempty"`   // switch: yields a sample
	Millis      int      `json:"millis,omitempty"`  // costs: a sample takes at least so long
	Calls       int      `json:"calls,omitempty"`   // start: at least so many calls a sample
	Limit       int      `json:"limit,omitempty"`   // alive, calls: where it ends; fetch: most in flight
	Seconds     int      `json:"seconds,omitempty"` // alive, calls: when it ends
	Origin      string   `json:"origin,omitempty"`  // fetch: of the server
}

// Group is a set of jobs whose figures are compared: they are run right after each other, in rounds.
type Group struct {
	Name   string
	Rounds int
	Jobs   []Job
}

// Measured is what a job returns: samples by contestant and name, such as "switch-10".
type Measured map[string]map[string][]float64

func (j Job) text() string {
	text, err := json.Marshal(j)
	if err != nil {
		panic(err) // it has only plain fields
	}
	return string(text)
}

// names returns those of the figures that the job is for, where there are several.
func (j Job) names() []string {
	names := j.Operations
	for _, size := range j.Sizes {
		names = append(names, fmt.Sprintf("%s-%d", j.Workload, size))
	}
	return names
}

// takesTurns reports whether the job stops before each sample, so that others can have theirs.
func (j Job) takesTurns() bool { return j.Workload == "switch" }

// ours reports whether what is measured is this project, and not what it is compared with.
func (j Job) ours() bool {
	return slices.ContainsFunc(j.Contestants, func(c string) bool { return c == "fiberfill" || c == "go" || c == "wazero" })
}
