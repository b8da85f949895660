package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
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
	r.print()
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

// print prints the finished results in the order of the fibers' numbers, not of their ends.
func (r *run) print() {
	for ; r.printed < len(r.calls); r.printed++ {
		c := r.calls[r.printed]
		switch {
		case !c.Over():
			return
		case r.lost != nil:
		case r.json:
			r.lost = r.printJSON(c)
		case c.State != guest.Done || c.Err != nil:
		case r.fibers > 0:
			_, r.lost = fmt.Fprintf(r.stdout, "%s\t%v\n", c.Name, c)
		case len(c.Results) > 0:
			_, r.lost = fmt.Fprintln(r.stdout, c)
		}
	}
}

// printJSON prints how a fiber has ended, as one line.
func (r *run) printJSON(c *guest.Call) error {
	line := struct {
		Fiber   string      `json:"fiber"`
		Export  string      `json:"export"`
		State   guest.State `json:"state"`
		Results []any       `json:"results,omitempty"`
		Error   string      `json:"error,omitempty"`
	}{Fiber: c.Name, Export: c.Export, State: c.State}
	if c.Err != nil {
		line.Error = translated.Replace(c.Err.Error())
	}
	for _, v := range c.Results {
		line.Results = append(line.Results, jsonValue(v))
	}
	encoder := json.NewEncoder(r.stdout)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(line)
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
