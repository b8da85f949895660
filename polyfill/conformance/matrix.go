package conformance

import (
	"fmt"
	"strings"

	"github.com/fiberfill/fiberfill/polyfill"
)

// letters are the cells of the matrices: done, or why not.
var letters = map[string]polyfill.Trap{
	"null":    polyfill.NullReference,
	"unknown": polyfill.UnknownReference,
	"state":   polyfill.NotSuspended,
	"chain":   polyfill.NotInChain,
	"over":    polyfill.Over,
	"stale":   polyfill.StaleToken,
	"threw":   polyfill.FunctionThrew,
	"entry":   polyfill.EntryRetired,
	"nowhere": polyfill.NoContinuation,
	"ok":      polyfill.OK,
}

// matrix is every operation of a system on an operand in every state. $ stands for the operand; a row ends with one
// cell for each column.
type matrix struct {
	system    System
	situation string
	columns   []string // name=operand
	rows      []string // operation | cells
}

var fiberColumns = []string{"null=null", "invented=fake", "fresh=f4", "parked=f0", "carried=f1", "busy=f2", "active=f3",
	"over=f5"}

var matrices = []matrix{
	{Fibers1, `new on t0
new on t0
resume f0 t0 on t0 t1
resume f1 t0 on t0 t1
suspend f0 t1 on t0 t1
new on t0
new on t0
new on t0
new on t0
release f5
new on t0
resume f2 t0 on t0 t1
resume f3 t0 on t0 t1`, fiberColumns, []string{
		"suspend $ t1 on t0       | null unknown chain chain chain ok ok over",
		"resume $ t0 on t0        | null unknown ok ok state state state over",
		"switch $ f6 t0 on t0     | null unknown chain chain chain ok ok over",
		"switch f3 $ t0 on t0     | null unknown ok ok state state ok over",
		"retire $ t1              | null unknown chain chain chain ok ok over",
		"retireto $ f6 t0         | null unknown chain chain chain ok ok over",
		"retireto f3 $ t0         | null unknown ok ok state state state over",
		"release $                | null unknown ok ok state state state over",
	}},
	{Fibers2, `new t0 on t0
new t0 on t0
mount f0 t0 on t0 t1
mount f1 t0 on t0 t1
dismount f0 t1 on t0 t1
new t0 on t0
new t0 on t0
new t0 on t0
new t0 on t0
release f5
new t0 on t0
mount f2 t0 on t0 t1
mount f3 t0 on t0 t1`, fiberColumns, []string{
		"mount $ t0               | null unknown ok ok state state state over",
		"switch $ f6 t0 on t0     | null unknown chain chain chain ok ok over",
		"switch f3 $ t0 on t0     | null unknown ok ok state state ok over",
		"dismount $ t1 on t0      | null unknown chain chain chain ok ok over",
		"release $                | null unknown ok ok state state state ok",
		"switch_new $ on t0       | null unknown chain chain chain ok ok over",
		"dismount_release $ t1    | null unknown chain chain chain ok ok over",
		"switch_release $ f6 t0   | null unknown chain chain chain ok ok over",
		"switch_release f3 $ t0   | null unknown ok ok state state state over",
		// An event that the receiver does not take: the same traps, and a fall-through in place of the rest (B-EVT-3).
		"mount $ t3               | null unknown ok ok state state state over",
		"dismount $ t3            | null unknown chain chain chain ok ok over",
	}},
	{Stacks, `new
new maybe
switch r1 catch maybe
switch r2 catch maybe
new maybe
bind r4
new maybe
switch r6 maybe
switch r7 maybe
switch r8 maybe
switch_retire r9
new maybe`, []string{"null=null", "fresh=r10", "parked=r3", "outdated=r4", "consumed=r8", "over=r9"}, []string{
		"switch $                 | null ok ok stale stale stale",
		"switch_retire $          | null entry entry stale stale stale",
		"switch_throw $ 4         | null threw ok stale stale stale",
		"return_switch $          | null ok ok stale stale stale",
		"return_switch_throw $ 4  | null threw ok stale stale stale",
		"bind $                   | null ok ok stale stale stale",
	}},
	{Cont, `new r0
new r0
new r0
resume r1 on t0 t1
suspend t0
br_on_evt e0 t0
new r0
resume r4 on t0
suspend t0
br_on_evt e1 t0
resume r5 on t0 t1
return`, []string{"null=null", "fresh=r0", "parked=r3", "consumed=r1", "over=r5"}, []string{
		"resume $                 | null ok ok stale stale",
		"cont.throw $ 4 catch     | null ok ok stale stale",
	}},
	{Cont, `new r0
new r0
resume r0 on t0 t1
resume r1 on t0 t1
suspend t0
br_on_evt e0 t0`, []string{"null=null", "good=e0"}, []string{
		"br_on_evt $ t0           | null ok",
		"forward $ on t0          | null ok",
	}},
}

// A Cell of a matrix is an operation on an operand in one state, at the end of a script.
type Cell struct {
	Name   string
	Script Script
	Want   polyfill.Trap // OK: the operation is performed
}

// Matrix returns every operation on an operand in every state.
func Matrix() ([]Cell, error) {
	var list []Cell
	for _, m := range matrices {
		for _, row := range m.rows {
			operation, cells, _ := strings.Cut(row, "|")
			operation = strings.TrimSpace(operation)
			want := strings.Fields(cells)
			if len(want) != len(m.columns) {
				return nil, fmt.Errorf("%q has %d cells, want %d", row, len(want), len(m.columns))
			}
			for i, column := range m.columns {
				state, operand, _ := strings.Cut(column, "=")
				script, err := Parse(m.system, m.situation+"\n"+strings.ReplaceAll(operation, "$", operand))
				if err != nil {
					return nil, err
				}
				list = append(list, Cell{fmt.Sprintf("K-2 %s %s with "+
					"%s", m.system, operation, state), script, letters[want[i]]})
			}
		}
	}
	return list, nil
}

// Got returns how the last operation of the cell's script ended in a trace; an earlier one must not have trapped.
func (c Cell) Got(trace []Outcome) polyfill.Trap {
	for _, o := range trace {
		if o.Kind == Trapped {
			return o.Trap
		}
	}
	if o := trace[len(trace)-1]; o.Kind == Issued && int(o.Ref) != len(c.Script.Ops)-1 {
		return polyfill.Unreachable
	}
	return polyfill.OK
}
