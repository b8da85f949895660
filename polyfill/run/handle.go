package run

import "github.com/fiberfill/fiberfill/polyfill"

// Handle is a lexical handle of fibers1: event blocks around the instructions inside of it. Handles nest as blocks of
// code do, so that each is made once, by the text that it encloses; code of an event block stands inside its handle,
// too (A-HDL-3). A function's outermost handle is its own body (A-HDL-1), with nil outside: frames of callers are never
// consulted (A-HDL-2).
type Handle struct {
	outer  *Handle
	blocks int32
	tags   []*Tag // all candidates, innermost handle first
	table  polyfill.Table
}

// Handle makes a handle inside of outer, which is nil for a function's body. A tag without a block makes no difference
// to the others: the nearest block whose tag is identical wins.
func (v *Fibers1) Handle(outer *Handle, blocks ...*Tag) *Handle {
	h := &Handle{outer: outer, blocks: int32(len(blocks)), tags: blocks}
	if outer != nil {
		h.tags = append(append([]*Tag(nil), blocks...), outer.tags...)
	}
	h.table = v.On(h.tags...)
	return h
}

// Block states the parameters of an event block for the tag, which it returns for [Fibers1.Handle]: the tag's own,
// behind values of the handle. It traps if the tag's are not the last of them (A-HDL-4).
func (v *Fibers1) Block(tag *Tag, params ...polyfill.Type) *Tag {
	v.enter()
	v.settle(v.system.Block(v.number(tag), polyfill.List(params...)))
	return tag
}

// Table returns what a switching instruction directly inside of h takes.
func (h *Handle) Table() polyfill.Table { return h.table }

// Taken returns the handle whose block takes an event that came with the label, and the block's place in it. The
// handles inside of that one are abandoned (A-HDL-6); leaving the block leaves its handle, for its outer one.
func (h *Handle) Taken(label int32) (taken *Handle, block int32) {
	for label >= h.blocks {
		label -= h.blocks
		h = h.outer
	}
	return h, label
}

// Outer returns the handle around h, nil if h is a function's body.
func (h *Handle) Outer() *Handle { return h.outer }
