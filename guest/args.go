package guest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/tetratelabs/wazero/api"

	"github.com/fiberfill/fiberfill/internal/shadow"
)

// An argument is a number as the runtime has it, or a text that is passed as its address and its length.
type argument struct {
	number uint64
	text   string
	isText bool
}

// textPrefix marks an argument as text that could be taken for a number.
const textPrefix = "text:"

// Parse reads the arguments of a call from the words of a command line: see [Guest.Call]. A word is a number of its
// parameter's type, or a text for two parameters of type i32. It is a text if it is not a number, or if it begins with
// "text:", which is taken off. Parse accepts an export that does not exist: Call refuses it.
func (g *Guest) Parse(export string, words []string) ([]any, error) {
	definition, ok := g.exports[export]
	if !ok {
		return nil, nil
	}
	params := definition.ParamTypes()
	wrong := wrongArgument(export, definition)
	var args []any
	texts := "" // what is to be said of those taken as texts
	p := 0
	for i, word := range words {
		if p >= len(params) {
			return nil, wrong("argument %d, %q, is one too many%s", i+1, word, texts)
		}
		number, err := number(params[p], word)
		pair := isPair(params, p)
		text, marked := strings.CutPrefix(word, textPrefix)
		switch {
		case pair && (marked || err != nil && !looksNumeric(word)):
			args = append(args, text)
			texts = fmt.Sprintf("; %q was taken as a text, for two parameters", text)
			p += 2
		case pair && err != nil:
			return nil, wrong("argument %d, %q: %v; if it is a text, write %s%s", i+1, word, err, textPrefix, word)
		case marked:
			return nil, wrong("argument %d is a text, which takes two parameters of type i32, an address and a "+
				"length; there is %s", i+1, types(params[p:min(p+2, len(params))]))
		case err != nil:
			return nil, wrong("argument %d, %q, is for a parameter of type %s: %v", i+1, word, typeName(params[p]), err)
		default:
			args = append(args, decode(params[p], number))
			p++
		}
	}
	if p < len(params) {
		return nil, wrong("too few arguments, there is none for %s (a number for each; a text, written as %sTEXT if "+
			"it looks like a number, takes two i32)%s", types(params[p:]), textPrefix, texts)
	}
	return args, nil
}

// looksNumeric reports whether a word is a number, though maybe none of its parameter's type.
func looksNumeric(word string) bool {
	if word == "" || !strings.ContainsAny(word[:1], "+-.0123456789") { // a text such as "inf"
		return false
	}
	_, float := strconv.ParseFloat(word, 64)
	_, integer := strconv.ParseInt(word, 0, 64)
	return float == nil || errors.Is(float, strconv.ErrRange) || integer == nil
}

func wrongArgument(export string, definition api.FunctionDefinition) func(format string, values ...any) error {
	return func(format string, values ...any) error {
		return fmt.Errorf("%s%s: %s", export, signature(definition), fmt.Sprintf(format, values...))
	}
}

// isPair reports whether a text may stand for the parameters from p on.
func isPair(params []api.ValueType, p int) bool {
	return p+1 < len(params) && params[p] == api.ValueTypeI32 && params[p+1] == api.ValueTypeI32
}

// arguments checks the arguments of a call.
func arguments(export string, definition api.FunctionDefinition, args []any) ([]argument, error) {
	params := definition.ParamTypes()
	wrong := wrongArgument(export, definition)
	var list []argument
	p := 0
	for i, arg := range args {
		if p >= len(params) {
			return nil, wrong("argument %d is one too many", i+1)
		}
		v := reflect.ValueOf(arg)
		switch t := params[p]; {
		case v.IsValid() && (v.Kind() == reflect.String || v.Type() == bytesType):
			if !isPair(params, p) {
				return nil, wrong("argument %d is a %v, which takes two parameters of type i32, an address and a "+
					"length; there is %s", i+1, v.Type(), types(params[p:min(p+2, len(params))]))
			}
			list = append(list, argument{text: v.Convert(reflect.TypeFor[string]()).String(), isText: true})
			p++
		case v.IsValid() && v.Kind() == reflect.Int && t == api.ValueTypeI32 && v.Int() == int64(int32(v.Int())):
			list = append(list, argument{number: api.EncodeI32(int32(v.Int()))})
		case v.IsValid() && v.Kind() == reflect.Int && t == api.ValueTypeI64:
			list = append(list, argument{number: uint64(v.Int())})
		case v.IsValid() && numbers[v.Kind()] == t:
			list = append(list, argument{number: word(v)})
		default:
			return nil, wrong("argument %d, %v of type %T, does not fit a parameter of type %s", i+1, arg, arg,
				typeName(t))
		}
		p++
	}
	if p < len(params) {
		return nil, wrong("too few arguments, there is none for %s", types(params[p:]))
	}
	return list, nil
}

// number reads a number of a type.
func number(t api.ValueType, text string) (uint64, error) {
	if strings.Contains(text, "_") { // which package strconv takes in some numbers and not in others
		return 0, errors.New("it must be a number without underscores")
	}
	switch t {
	case api.ValueTypeI32:
		return integer(text, 32)
	case api.ValueTypeI64:
		return integer(text, 64)
	case api.ValueTypeF32:
		v, err := strconv.ParseFloat(text, 32)
		return uint64(math.Float32bits(float32(v))), numberError(err, "a number such as 0.5, within the range of 32 "+
			"bits")
	case api.ValueTypeF64:
		v, err := strconv.ParseFloat(text, 64)
		return math.Float64bits(v), numberError(err, "a number such as 0.5, within the range of 64 bits")
	}
	return 0, errors.New("no value of this type can be written on a command line")
}

// integer reads an integer, with or without a sign, decimal or with 0x.
func integer(text string, size int) (uint64, error) {
	base := 10
	if strings.ContainsAny(text, "xX") {
		base = 0
	}
	if v, err := strconv.ParseInt(text, base, size); err == nil {
		return uint64(v) & (math.MaxUint64 >> (64 - size)), nil
	}
	v, err := strconv.ParseUint(text, base, size)
	return v, numberError(err, fmt.Sprintf("a whole number of %d bits", size))
}

func numberError(err error, want string) error {
	if err == nil {
		return nil
	}
	return errors.New("it must be " + want)
}

// place puts the texts among the arguments on the fiber's stack and sets the stack pointer below them.
func (c *Call) place() ([]uint64, error) {
	g := c.guest
	size := 0
	for _, a := range c.args {
		size += len(a.text)
	}
	top := uint32(0)
	if size > 0 {
		if g.pointer == nil || g.memory == nil {
			return nil, errors.New("it was given a text, and fiberfill knows of no stack in the guest's memory to " +
				"put it on; if there is one, name by Options.Stacks.Pointer what points to it")
		}
		// Nobody can tell where the guest's own stack ends: the program's data lies below it.
		low := c.high - min(c.high, cmp.Or(g.plan.Size, g.options.Stacks.Size, shadow.Size))
		if c.region != nil {
			low = c.region.low
		}
		if uint64(low)+1024+uint64(size) > uint64(c.high) {
			return nil, fmt.Errorf("the %d bytes of text do not fit on the fiber's stack of %d", size, c.high-low)
		}
		top = (c.high - uint32(size)) &^ 15
	}
	if g.pointer != nil {
		g.pointer.Set(uint64(c.high))
		if size > 0 {
			g.pointer.Set(uint64(top))
		}
	}
	var values []uint64
	for _, a := range c.args {
		if !a.isText {
			values = append(values, a.number)
			continue
		}
		if len(a.text) > 0 && !g.memory.WriteString(top, a.text) {
			return nil, errors.New("the stack that the text goes on is not in the guest's memory")
		}
		values = append(values, uint64(top), uint64(len(a.text)))
		top += uint32(len(a.text))
	}
	return values, nil
}

// decode returns a number of wasm as one of Go, and the bits of any other value.
func decode(t api.ValueType, v uint64) any {
	switch t {
	case api.ValueTypeI32:
		return api.DecodeI32(v)
	case api.ValueTypeI64:
		return int64(v)
	case api.ValueTypeF32:
		return api.DecodeF32(v)
	case api.ValueTypeF64:
		return api.DecodeF64(v)
	}
	return v
}

// values returns the results of a call, nil if it has none.
func values(types []api.ValueType, results []uint64) (list []any) {
	for _, t := range types {
		switch {
		case len(results) == 0: // it has not returned
			return nil
		case t == valueTypeV128:
			list = append(list, [2]uint64(results))
			results = results[2:]
		default:
			list = append(list, decode(t, results[0]))
			results = results[1:]
		}
	}
	return list
}

func format(t api.ValueType, v any) string {
	switch v := v.(type) {
	case float32:
		return strconv.FormatFloat(float64(v), 'g', -1, 32)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case int32, int64:
		return fmt.Sprint(v)
	}
	return typeName(t)
}

// Types that the runtime's API has no names for.
const (
	valueTypeV128    api.ValueType = 0x7b
	valueTypeFuncref api.ValueType = 0x70
)

func typeName(t api.ValueType) string {
	switch t {
	case valueTypeV128:
		return "v128"
	case valueTypeFuncref:
		return "funcref"
	}
	return api.ValueTypeName(t)
}

// list is the exported functions with their types.
func (g *Guest) list() string {
	if len(g.exports) == 0 {
		return "no functions"
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(g.exports)) {
		list = append(list, name+signature(g.exports[name]))
	}
	return strings.Join(list, ", ")
}

// signature is a function's type as text: "(i32, i32) -> i32"; empty for nil.
func signature(definition api.FunctionDefinition) string {
	if definition == nil {
		return ""
	}
	return signed(definition.ParamTypes(), definition.ResultTypes())
}

func signed(params, results []api.ValueType) string {
	text := "(" + types(params) + ")"
	if len(results) > 0 {
		text += " -> " + types(results)
	}
	return text
}

func types(list []api.ValueType) string {
	var names []string
	for _, t := range list {
		names = append(names, typeName(t))
	}
	return strings.Join(names, ", ")
}
