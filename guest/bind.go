package guest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/internal/wasm"
)

// Imports are Go functions for a guest to import, by the names of module and import. Their types are those of the
// guest's import:
//
//   - int32 or uint32 for i32, int64 or uint64 for i64, float32 for f32, float64 for f64;
//   - a string or []byte parameter for two i32, an address and a length in the guest's memory: a copy of what is there.
//
// A function whose first parameter is a [*Fiber] may wait: by package asyncio, with the fiber as the context. Other
// calls of the guest run meanwhile. Its last result is an error, which the guest gets as an exception, so that its own
// cleanup runs; the waits of a cancelled call end in the same way. A function whose first parameter is a [*Call] never
// waits, and knows which call it serves; other functions need neither parameter. They may return an error, too. A panic
// traps.
//
// A call of an import costs about 0.6 µs; if the import may wait, it costs 1.7 µs plus the wait itself.
//
// The functions run on the goroutine that runs the guest, one at a time. Code that blocks in Go's own way, such as a
// query of a database, belongs in [asyncio.Block].
type Imports map[string]map[string]any

// Fiber is a call for an import that may wait, and the context of its waits.
type Fiber struct {
	*asyncio.Fiber
	Call *Call
}

// Value returns the value for key of the context that the call was made with: see [Guest.Call].
func (f *Fiber) Value(key any) any {
	if key == (inImport{}) {
		return f.Call
	}
	return f.Fiber.Value(key)
}

// inImport is the key by which a context of an import is known.
type inImport struct{}

// Read returns a copy of a part of the guest's memory. An address outside of it ends the fiber with a [TrapError].
//
// It is for functions that the guest imports, and not for what they give to [asyncio.Block], which runs beside the
// guest: read before, and write after. Read panics once the call is over, since its stack may be another call's then.
func (c *Call) Read(at, length uint32) []byte {
	c.mustLive("Read")
	bytes, ok := c.guest.read(at, length)
	if !ok {
		panic(c.outside(at, uint64(length)))
	}
	bytes = slices.Clone(bytes)
	if from, to, theirs := c.away(at, length); theirs {
		copy(bytes[from-at:], c.stack[from-c.saved:to-c.saved])
	}
	return bytes
}

// Write writes to the guest's memory. An address outside of it ends the fiber with a [TrapError]. Like [Call.Read] it
// is not for functions that run in [asyncio.Block], and panics once the call is over.
func (c *Call) Write(at uint32, bytes []byte) {
	c.mustLive("Write")
	length := uint32(len(bytes))
	if uint64(len(bytes)) > math.MaxUint32 {
		panic(c.outside(at, uint64(len(bytes))))
	}
	from, to, theirs := c.away(at, length)
	if !theirs {
		if !c.guest.write(at, bytes) {
			panic(c.outside(at, uint64(length)))
		}
		return
	}
	if _, ok := c.guest.read(at, length); !ok {
		panic(c.outside(at, uint64(length)))
	}
	copy(c.stack[from-c.saved:to-c.saved], bytes[from-at:])
	c.guest.write(at, bytes[:from-at])
	c.guest.write(to, bytes[to-at:])
}

// mustLive panics if the call is over.
func (c *Call) mustLive(op string) {
	if c.closed.Load() {
		panic(fmt.Sprintf("guest: Call.%s: fiber %s is over, and another call may have its stack; keep it out of "+
			"functions that asyncio.Block runs", op, c.Name))
	}
}

// away returns the part of a piece of memory that is copied out while the call waits, since another call may use its
// place.
func (c *Call) away(at, length uint32) (from, to uint32, some bool) {
	from = max(at, c.saved)
	to = uint32(min(uint64(at)+uint64(length), uint64(c.saved)+uint64(len(c.stack))))
	return from, to, from < to
}

func (c *Call) outside(at uint32, length uint64) error {
	return fmt.Errorf("%s: the guest has passed %d bytes at %d, which are outside its memory", c.imported, length, at)
}

// binding is a function for a guest to import.
type binding struct {
	module, name    string
	full            string // both
	function        reflect.Value
	args            []reflect.Value // for the call under way
	first           int             // of args that the guest passes
	waits           bool            // it gets a *Fiber
	knows           bool            // it gets a *Call
	reads           bool            // it gets a part of the guest's memory
	fails           bool            // it returns an error
	params, results []api.ValueType
}

var (
	fiberType = reflect.TypeFor[*Fiber]()
	callType  = reflect.TypeFor[*Call]()
	errorType = reflect.TypeFor[error]()
	bytesType = reflect.TypeFor[[]byte]()
)

// numbers are the types of wasm by the kinds of Go.
var numbers = map[reflect.Kind]api.ValueType{
	reflect.Int32: api.ValueTypeI32, reflect.Uint32: api.ValueTypeI32, reflect.Int64: api.ValueTypeI64,
	reflect.Uint64: api.ValueTypeI64, reflect.Float32: api.ValueTypeF32, reflect.Float64: api.ValueTypeF64,
}

func bind(module, name string, function any) (*binding, error) {
	b := &binding{module: module, name: name, full: module + "." + name, function: reflect.ValueOf(function)}
	wrong := func(format string, values ...any) (*binding, error) {
		return nil, fmt.Errorf("import %s.%s: %s", module, name, fmt.Sprintf(format, values...))
	}
	if b.function.Kind() != reflect.Func || b.function.IsNil() {
		return wrong("it must be a function, and is %T", function)
	}
	t := b.function.Type()
	if t.IsVariadic() {
		return wrong("its parameters must be of fixed number")
	}
	last := t.NumOut()
	if t.NumIn() > 0 && (t.In(0) == fiberType || t.In(0) == callType) {
		b.waits, b.knows, b.first = t.In(0) == fiberType, t.In(0) == callType, 1
	}
	if last > 0 && t.Out(last-1) == errorType {
		b.fails, last = true, last-1
	}
	if b.waits && !b.fails {
		return wrong("it may wait, and must return an error: how else would the guest hear of a cancellation?")
	}
	b.args = make([]reflect.Value, b.first)
	for i := b.first; i < t.NumIn(); i++ {
		b.args = append(b.args, reflect.New(t.In(i)).Elem())
		switch p := t.In(i); {
		case p.Kind() == reflect.String, p == bytesType:
			b.reads = true
			b.params = append(b.params, api.ValueTypeI32, api.ValueTypeI32)
		case numbers[p.Kind()] != 0:
			b.params = append(b.params, numbers[p.Kind()])
		default:
			hint := ""
			if p == reflect.TypeFor[context.Context]() || p == reflect.TypeFor[*asyncio.Fiber]() {
				hint = ". A function that may wait takes a *guest.Fiber first, which is a context, too"
			}
			return wrong("its parameter of type %v is none of int32, uint32, int64, uint64, float32, float64, string "+
				"and []byte%s", p, hint)
		}
	}
	for i := range last {
		v, ok := numbers[t.Out(i).Kind()]
		if !ok {
			return wrong("its result of type %v is none of int32, uint32, int64, uint64, float32 and float64", t.Out(i))
		}
		b.results = append(b.results, v)
	}
	return b, nil
}

// bindAll reads the user's imports and adds those that are always there.
func (g *Guest) bindAll() error {
	all := maps.Clone(g.options.Imports)
	if all == nil {
		all = Imports{}
	}
	for module := range all {
		if module == wasi || module == "fiberfill" || strings.HasPrefix(module, "fiberfill/") {
			return fmt.Errorf("imports of %s are not the user's to give: they are there", module)
		}
	}
	all["fiberfill"] = map[string]any{"yield": yield, "sleep_ms": sleep}
	for _, module := range slices.Sorted(maps.Keys(all)) {
		for _, name := range slices.Sorted(maps.Keys(all[module])) {
			b, err := bind(module, name, all[module][name])
			if err != nil {
				return err
			}
			g.bindings = append(g.bindings, b)
		}
	}
	return nil
}

func (b *binding) signature() string { return signed(b.params, b.results) }

// call is the host function: it reads its parameters from stack and writes the results there. If it may fail, it has
// one more result, which is not 0 if the guest gets an exception.
//
// It is the hot path of guests that call much. The call by reflection is half of what it costs; the rest allocates
// nothing, apart from texts.
func (b *binding) call(ctx context.Context, stack []uint64) {
	c := callIn(ctx)
	if b.waits || b.knows || b.reads {
		c = callOf(ctx, b.full)
	}
	if c != nil {
		c.imported = b.full
	}
	switch {
	case b.waits:
		b.args[0] = reflect.ValueOf(c.face)
	case b.knows:
		b.args[0] = reflect.ValueOf(c)
	}
	b.take(c, stack)
	var results []reflect.Value
	var err error
	if b.waits {
		results, err = b.wait(c)
	} else {
		results = b.invoke(c)
		err = b.failure(results)
	}
	for i := range b.results {
		stack[i] = word(results[i])
	}
	if b.fails {
		stack[len(b.results)] = 0
		if err != nil {
			stack[len(b.results)] = 1
			err = fmt.Errorf("%s: %w", b.full, err)
		}
		if c != nil {
			c.threw = err
		}
	}
}

// wait is a call of a function that may wait. It is separate from call because its variables are on the heap.
func (b *binding) wait(c *Call) (results []reflect.Value, err error) {
	err = c.waitIn(b.full, func() error {
		results = b.invoke(c)
		return b.failure(results)
	})
	return results, err
}

// invoke calls the user's function. If that panics, the call knows where.
func (b *binding) invoke(c *Call) []reflect.Value {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if c != nil {
			c.panicked = &importPanic{b.full, asyncio.PanicError{Fiber: c.Name, Value: v, Stack: debug.Stack()}}
		}
		panic(v)
	}()
	return b.function.Call(b.args)
}

// An importPanic is the reason of the trap of a call whose import has panicked.
type importPanic struct {
	name  string
	cause asyncio.PanicError
}

func (p *importPanic) Error() string {
	return fmt.Sprintf("import %s panicked: %v", p.name, p.cause.Value)
}

func (p *importPanic) Unwrap() error { return &p.cause }

func (b *binding) failure(results []reflect.Value) error {
	if !b.fails {
		return nil
	}
	err, _ := results[len(results)-1].Interface().(error)
	return err
}

// take puts the parameters in stack into args, whose values are reused by every call: the function gets copies.
func (b *binding) take(c *Call, stack []uint64) {
	for _, v := range b.args[b.first:] {
		word := stack[0]
		switch v.Kind() {
		case reflect.Int32:
			v.SetInt(int64(int32(word)))
		case reflect.Int64:
			v.SetInt(int64(word))
		case reflect.Uint32, reflect.Uint64: // it cuts off what is too much
			v.SetUint(word)
		case reflect.Float32:
			v.SetFloat(float64(api.DecodeF32(word)))
		case reflect.Float64:
			v.SetFloat(api.DecodeF64(word))
		case reflect.String:
			v.SetString(string(c.Read(uint32(word), uint32(stack[1]))))
			stack = stack[1:]
		default:
			v.SetBytes(c.Read(uint32(word), uint32(stack[1])))
			stack = stack[1:]
		}
		stack = stack[1:]
	}
}

// waitIn is wait for a function of the user. If that function panics, the call traps when its stack is in its place
// again.
func (c *Call) waitIn(name string, run func() error) error {
	var panicked any
	err := c.wait(name, func() error {
		defer func() { panicked = recover() }()
		return run()
	})
	if panicked != nil {
		panic(panicked)
	}
	return err
}

// word returns a number of Go as the runtime has it.
func word(v reflect.Value) uint64 {
	switch v.Kind() {
	case reflect.Int32:
		return api.EncodeI32(int32(v.Int()))
	case reflect.Int64:
		return uint64(v.Int())
	case reflect.Float32:
		return api.EncodeF32(float32(v.Float()))
	case reflect.Float64:
		return api.EncodeF64(v.Float())
	}
	return v.Uint()
}

// host instantiates the bindings that a guest imports, one module for each name. A host function of the runtime can
// return or trap, but it cannot throw; a guest has to see a failed or cancelled wait as an exception, as in a browser.
// So a module of ours stands in between, which throws if the host function's result says so.
//
// Why: RATIONALE.md, "Why is there wasm between a guest and its imports on a server, too?".
func (g *Guest) host(ctx context.Context, needed []*binding) error {
	slices.SortStableFunc(needed, func(a, b *binding) int { return strings.Compare(a.module, b.module) })
	for len(needed) > 0 {
		module := needed[0].module
		n := slices.IndexFunc(needed, func(b *binding) bool { return b.module != module })
		if n < 0 {
			n = len(needed)
		}
		builder := g.runtime.NewHostModuleBuilder(behind(module))
		for _, b := range needed[:n] {
			function := api.GoFunc(b.call)
			builder.NewFunctionBuilder().WithGoFunction(function, b.params, b.hostResults()).Export(b.name)
		}
		if _, err := builder.Instantiate(ctx); err != nil {
			return err
		}
		config := wazero.NewModuleConfig().WithName(module)
		if _, err := g.runtime.InstantiateWithConfig(ctx, between(module, needed[:n]), config); err != nil {
			return errors.Join(fmt.Errorf("fiberfill's own module for the imports of %s", module), err)
		}
		needed = needed[n:]
	}
	return nil
}

func (b *binding) hostResults() []api.ValueType {
	if b.fails {
		return append(slices.Clone(b.results), api.ValueTypeI32)
	}
	return b.results
}

// behind is the name of the host module behind a module of imports. No other module of this package has such a name.
func behind(module string) string { return "fiberfill:imports/" + module }

// between is the module between a guest and the host functions of one name: it exports each under its own name and
// type, and throws an exception if the last result of the host function, which the guest does not get, is not 0.
func between(module string, list []*binding) []byte {
	const (
		tags, throw, tagImport = 13, 0x08, 0x00
		get, call, ifThen, end = 0x20, 0x10, 0x04, 0x0b
	)
	w := new(wasm.Writer)
	w.Raw("\x00asm\x01\x00\x00\x00")
	n := uint32(len(list))
	section := func(id byte, count uint32, fill func(i uint32)) {
		from := w.Section(id)
		w.U32(count)
		for i := range count {
			fill(i)
		}
		w.Close(from)
	}
	values := func(list []api.ValueType) {
		w.U32(uint32(len(list)))
		w.Bytes(list)
	}
	section(1, 2*n+1, func(i uint32) { // types: of the tag, and two of each
		w.Byte(0x60)
		switch {
		case i == 0:
			values(nil)
			values(nil)
		case i%2 == 1:
			values(list[i/2].params)
			values(list[i/2].hostResults())
		default:
			values(list[i/2-1].params)
			values(list[i/2-1].results)
		}
	})
	section(2, n, func(i uint32) { // imports
		w.Name(behind(module))
		w.Name(list[i].name)
		w.Op(0, 2*i+1)
	})
	section(3, n, func(i uint32) { w.U32(2*i + 2) })
	section(tags, 1, func(uint32) { w.Op(tagImport, 0) })
	section(7, n, func(i uint32) { // exports
		w.Name(list[i].name)
		w.Op(0, n+i)
	})
	section(10, n, func(i uint32) {
		size := w.Hole()
		w.U32(0)
		for p := range list[i].params {
			w.Op(get, uint32(p))
		}
		w.Op(call, i)
		if list[i].fails {
			w.Op(ifThen, 0x40)
			w.Op(throw, 0)
			w.Byte(end)
		}
		w.Byte(end)
		w.Close(size)
	})
	return w.B
}
