package run

import "github.com/fiberfill/fiberfill/polyfill"

// Handle is a lexical handle of fibers1: event blocks around the instructions inside it. Handles nest as blocks of code
// do, so make each one once for the code that it encloses. Code of an event block is itself inside its handle
// (A-HDL-3). A function's outermost handle is its own body (A-HDL-1), whose outer handle is nil: frames of callers are
// never consulted (A-HDL-2).
type Handle struct {
	outer  *Handle
	blocks int32
	tags   []*Tag // all candidates, innermost handle first
	table  polyfill.Table
}

// Handle makes a handle inside outer, which is nil for a function's body. The nearest block whose tag is identical to
// the event's takes the event.
func (v *Fibers1) Handle(outer *Handle, blocks ...*Tag) *Handle {
	h := &Handle{outer: outer, blocks: int32(len(blocks)), tags: blocks}
	if outer != nil {
		h.tags = append(append([]*Tag(nil), blocks...), outer.tags...)
	}
	h.table = v.On(h.tags...)
	return h
}

// Block states the parameters of an event block for the tag: values of the handle, then the tag's own parameters. It
// returns the tag, for [Fibers1.Handle], and traps if the last of params are not the tag's (A-HDL-4).
func (v *Fibers1) Block(tag *Tag, params ...polyfill.Type) *Tag {
	v.enter()
	v.settle(v.system.Block(v.number(tag), polyfill.List(params...)))
	return tag
}

// Table returns the table of the tags that a switching instruction directly inside h takes.
func (h *Handle) Table() polyfill.Table { return h.table }

// Taken returns the handle whose block takes an event that came with the label, and the block's place in that handle.
// The handles inside it are abandoned (A-HDL-6). Code that leaves the block is then inside the handle's outer one.
func (h *Handle) Taken(label int32) (taken *Handle, block int32) {
	for label >= h.blocks {
		label -= h.blocks
		h = h.outer
	}
	return h, label
}

// Outer returns the handle around h, nil if h is a function's body.
func (h *Handle) Outer() *Handle { return h.outer }
