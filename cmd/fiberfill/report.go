package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/fiberfill/fiberfill/guest"
)

// ended is called for each fiber that is over.
func (r *run) ended(c *guest.Call) {
	errors.As(c.Err, &r.exit)
	if c.State == guest.Failed {
		r.failed = true
		r.say("%v", translated.Replace(c.Err.Error()))
	}
	if trap := (*guest.TrapError)(nil); errors.As(c.Err, &trap) && !r.trapped && !r.quiet {
		r.trapped = true // once: a thousand fibers with the same bug would print a million lines
		r.list(c)
		r.listProposal(trap.Fibers)
	}
	r.output.ended(c, r.line(c))
	if c.Export == r.export { // otherwise it prepares the module
		r.bar.advance(c.State == guest.Failed)
	}
}

// cancelled returns how many fibers were cancelled, and not by the guest's exit.
func (r *run) cancelled() (n int) {
	for _, c := range r.calls {
		if exit := (*guest.ExitError)(nil); c.State == guest.Cancelled && !errors.As(c.Err, &exit) {
			n++
		}
	}
	return n
}

// line returns what is printed for a fiber that has ended; empty for nothing.
func (r *run) line(c *guest.Call) string {
	switch {
	case r.json:
		return r.lineJSON(c)
	case c.State != guest.Done || c.Err != nil:
		return ""
	case r.fibers > 0:
		return fmt.Sprintf("%s\t%v\n", c.Name, c)
	case len(c.Results) > 0:
		return fmt.Sprintln(c)
	}
	return ""
}

// jsonLine is a line with --json.
type jsonLine struct {
	Fiber   string      `json:"fiber"`
	Export  string      `json:"export"`
	State   guest.State `json:"state"`
	Results []any       `json:"results,omitempty"`
	Error   string      `json:"error,omitempty"`
}

// lineJSON is line with --json: how the fiber has ended.
func (r *run) lineJSON(c *guest.Call) string {
	line := jsonLine{Fiber: c.Name, Export: c.Export, State: c.State}
	if c.Err != nil {
		line.Error = translated.Replace(c.Err.Error())
	}
	for _, v := range c.Results {
		line.Results = append(line.Results, jsonValue(v))
	}
	return line.String()
}

// unended returns what is printed for a fiber that the process does not wait for. Its code may be running.
func (r *run) unended(c *guest.Call) string {
	if !r.json {
		return ""
	}
	const why = "the process has ended before the fiber"
	return jsonLine{Fiber: c.Name, Export: c.Export, State: guest.Cancelled, Error: why}.String()
}

func (l jsonLine) String() string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.Encode(l) // which cannot fail
	return text.String()
}

// jsonValue returns a result as it is written in JSON. Many readers read 64-bit integers as floating point, and JSON
// has neither infinities nor NaN: all of these are texts, as in the JSON of Protocol Buffers. A result that is no
// number is null.
func jsonValue(v any) any {
	switch v := v.(type) {
	case int32:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case float32:
		return jsonFloat(float64(v), v)
	case float64:
		return jsonFloat(v, v)
	}
	return nil
}

func jsonFloat(v float64, number any) any {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	return number
}

// list prints the fibers at the moment of a trap.
func (r *run) list(trapped *guest.Call) {
	live := r.guest.Calls()
	over := max(0, len(r.calls)-len(live)-1)
	fmt.Fprintf(r.stderr, "The fibers at that moment, without the %d that had ended:\n", over)
	w := tabwriter.NewWriter(r.stderr, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  FIBER\tEXPORT\tSTATE\tFOR\tWAITS FOR")
	now := time.Now()
	for _, c := range append([]*guest.Call{trapped}, live...) {
		fmt.Fprintf(w, "  %s\t%s\t%s\t%v\t%s\n", c.Name, c.Export, c.State, now.Sub(c.Since).Round(time.Millisecond),
			c.WaitsFor)
	}
	w.Flush()
}

// listProposal prints the fibers that the guest itself made, by the operations of a proposal.
func (r *run) listProposal(fibers []guest.ProposalFiber) {
	if len(fibers) == 0 {
		return
	}
	fmt.Fprintf(r.stderr, "The guest's own fibers at that moment; the trap has ended the active one and the busy "+
		"ones:\n")
	w := tabwriter.NewWriter(r.stderr, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  FIBER\tSTATE\tFUNCTION")
	for _, f := range fibers {
		fmt.Fprintf(w, "  %s %d\t%s\ttable[%d]\n", f.System, f.ID, f.State, f.Body)
	}
	w.Flush()
}

// note is like say, for messages that --quiet leaves out.
func (r *run) note(format string, values ...any) {
	if !r.quiet {
		r.say(format, values...)
	}
}

func (r *run) say(format string, values ...any) {
	fmt.Fprintf(r.stderr, "fiberfill: "+format+"\n", values...)
}
