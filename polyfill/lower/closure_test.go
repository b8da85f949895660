package lower

import (
	"fmt"
	"testing"

	"github.com/fiberfill/fiberfill/internal/wasm/validate"
)

// TestClosure has modules of one imported function, 0, and four more. 1 and 2 are in the table, of type a and of type
// b. 3 calls through the table as a, 4 as b.
func TestClosure(t *testing.T) {
	const (
		types    = "\x01\x04\x60\x00\x00\x60\x01\x7f\x00\x60\x01\x70\x00" // a: (), b: (i32), c: (funcref)
		plain    = types + "\x60\x00\x00"
		imported = "\x02\x01\x01e\x01f\x00\x00"
		boxed    = "\x60\x01\x63\x02\x00"
		taken    = "\x02\x01\x01e\x01f\x00\x03"
		subtype  = "\x01\x03\x50\x00\x60\x00\x00\x60\x01\x7f\x00\x50\x01\x00\x60\x00\x00" // of a
		declared = "\x03\x04\x00\x01\x00\x00"
		table    = "\x04\x01\x70\x00\x02"
		filled   = "\x09\x01\x00\x41\x00\x0b\x02\x01\x02"
		through  = "\x07\x00\x41\x00\x11\x00\x00\x0b" + "\x09\x00\x41\x00\x41\x00\x11\x01\x00\x0b"
		calls    = "\x0a\x04\x04\x00\x10\x00\x0b\x02\x00\x0b" + through // 1 calls the import
		idle     = "\x0a\x04\x02\x00\x0b\x02\x00\x0b" + through
	)
	exports := func(kind, index string) string { return "\x07\x01\x01x" + kind + index }
	every := func(validate.Import) bool { return true }
	none := func(validate.Import) bool { return false }
	for name, c := range map[string]struct {
		bin  []byte
		from sources
		want string // the functions that may be left
	}{
		"a call through a table reaches what has the type": {
			module(plain, imported, declared, table, filled, calls), sources{every, true}, "[0 1 3]"},
		"an import that does not suspend is no source": {
			module(plain, imported, declared, table, filled, calls), sources{none, true}, "[]"},
		"what is not in a table, and nobody has a reference of, is not reached": {
			module(plain, imported, declared, table, "\x09\x01\x00\x41\x00\x0b\x01\x02", calls),
			sources{every, true}, "[0 1]"},
		"an imported function in a table": {
			module(plain, imported, declared, table, "\x09\x01\x00\x41\x00\x0b\x02\x00\x02", idle),
			sources{every, true}, "[0 3]"},
		"an exported table has functions from outside": {
			module(plain, imported, declared, table, exports("\x01", "\x00"), filled, idle),
			sources{none, true}, "[3 4]"},
		"which may be known not to suspend": {
			module(plain, imported, declared, table, exports("\x01", "\x00"), filled, calls),
			sources{every, false}, "[0 1 3]"},
		"an exported global that holds a function": {
			module(plain, imported, declared, table, "\x06\x01\x70\x01\xd0\x70\x0b", exports("\x03", "\x00"), filled,
				idle), sources{none, true}, "[3 4]"},
		"an export that takes a function": {
			module(plain, imported, "\x03\x04\x00\x01\x00\x02", table, exports("\x00", "\x04"), filled,
				"\x0a\x04\x02\x00\x0b\x02\x00\x0b"+"\x07\x00\x41\x00\x11\x00\x00\x0b"+"\x02\x00\x0b"),
			sources{none, true}, "[3]"},
		"an import of a structure with a function in it": {
			module("\x01\x04\x60\x00\x00\x60\x01\x7f\x00\x5f\x01\x70\x01"+boxed, taken, declared, table, filled,
				idle), sources{none, true}, "[3 4]"},
		"an import of a structure without": {
			module("\x01\x04\x60\x00\x00\x60\x01\x7f\x00\x5f\x01\x7f\x01"+boxed, taken, declared, table, filled,
				idle), sources{none, true}, "[]"},
		"a call as a supertype reaches a subtype": {
			module(subtype, imported, "\x03\x04\x02\x01\x00\x00", table, filled,
				calls), sources{every, true}, "[0 1 3]"},
		"a call as a subtype reaches no supertype": {
			module(subtype, imported, declared, table, filled,
				"\x0a\x04\x04\x00\x10\x00\x0b\x02\x00\x0b"+
					"\x07\x00\x41\x00\x11\x02\x00\x0b"+"\x09\x00\x41\x00\x41\x00\x11\x01\x00\x0b"),
			sources{every, true}, "[0 1]"},
	} {
		m, err := validate.Decode(c.bin, nil)
		if err != nil {
			t.Errorf("%s: invalid: %s", name, err.Error())
			continue
		}
		l := &lowering{m: m, t: m.Types}
		if err := l.graph(c.from); err != nil {
			t.Errorf("%s: invalid: %s", name, err.Error())
			continue
		}
		got := []int{}
		for f, may := range l.may.funcs {
			if may {
				got = append(got, f)
			}
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v may be left, want %s", name, got, c.want)
		}
	}
}
