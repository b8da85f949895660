package bench

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Job is what one process measures. js/workloads.js runs jobs in engines, costs runs them natively.
type Job struct {
	Workload    string   `json:"workload"`
	Contestants []string `json:"contestants"`          // one, except for compute and fetch
	Operations  []string `json:"operations,omitempty"` // costs: measured in turn
	Sizes       []int    `json:"sizes,omitempty"`
	Samples     int      `json:"samples,omitempty"`
	Warmup      int      `json:"warmup"`            // samples that do not count; start: waves of at most 1,000
	Steps       int      `json:"steps,omitempty"`   // switch: yields a sample
	Millis      int      `json:"millis,omitempty"`  // costs: minimum duration of a sample
	Calls       int      `json:"calls,omitempty"`   // start: minimum number of calls a sample
	Limit       int      `json:"limit,omitempty"`   // alive, calls: maximum number; fetch: maximum in flight
	Seconds     int      `json:"seconds,omitempty"` // alive, calls: maximum duration
	Origin      string   `json:"origin,omitempty"`  // fetch: the server's
}

// Group is a set of jobs whose figures are compared. They run right after each other, in rounds.
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
		panic(err) // cannot happen: it has only plain fields
	}
	return string(text)
}

// names returns the names of the job's figures, if there are several.
func (j Job) names() []string {
	names := j.Operations
	for _, size := range j.Sizes {
		names = append(names, fmt.Sprintf("%s-%d", j.Workload, size))
	}
	return names
}

// takesTurns reports whether the job stops before each sample, so that other jobs can run theirs.
func (j Job) takesTurns() bool { return j.Workload == "switch" }

// ours reports whether the job measures this project, not an alternative.
func (j Job) ours() bool {
	own := []string{"fiberfill", "unwound", "plain", "go", "wazero", "lowered", "rewritten"}
	return slices.ContainsFunc(j.Contestants, func(c string) bool { return slices.Contains(own, c) })
}
