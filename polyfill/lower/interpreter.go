package lower

import "github.com/fiberfill/fiberfill/internal/wasm"

// manyCases is the number of cases from which on a switch counts as an interpreter. shortCallee is the largest size, in
// bytes, of a called function that is copied, too: in short functions the dispatch at the entry is a good part of the
// work.
const (
	manyCases   = 64
	shortCallee = 2000
)

// interpreters finds the functions that are copied if they are compact: those with a loop around a large br_table, and
// those that they call.
func (l *lowering) interpreters() {
	l.twice = make([]bool, len(l.m.Funcs))
	for _, f := range l.switches {
		if !l.may.funcs[f] {
			continue
		}
		s := l.read(f)
		if !s.interprets() {
			continue
		}
		l.twice[f] = true
		for _, at := range s.sites {
			if in := &s.ins[at]; in.op == wasm.OpCall {
				body := l.m.Funcs[in.x].Body
				l.twice[in.x] = l.twice[in.x] || body.End-body.Start <= shortCallee
			}
		}
	}
}

// interprets reports whether the function has a large br_table in a loop that has sites.
func (s *source) interprets() bool {
	for i := range s.ins {
		if s.ins[i].op != wasm.OpBrTable || s.ins[i].labels.n < manyCases {
			continue
		}
		for at := s.ins[i].parent; at >= 0; at = s.ins[at].parent {
			if in := &s.ins[at]; in.op == wasm.OpLoop && s.has(in) {
				return true
			}
		}
	}
	return false
}
