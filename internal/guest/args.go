package guest

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tetratelabs/wazero/api"
)

// An argument is a number, or a text that is passed as its address and its length.
type argument struct {
	number uint64
	text   string
	isText bool
}

// textPrefix marks an argument as text that could be taken for a number.
const textPrefix = "text:"

// arguments reads the arguments of a call. Each is a number of its parameter's type, or a text for two parameters of
// type i32. An argument is a text if it is not a number, if it begins with "text:", or if the export has exactly two
// parameters for each argument.
func arguments(export string, definition api.FunctionDefinition, args []string) ([]argument, error) {
	params := definition.ParamTypes()
	wrong := func(format string, values ...any) error {
		return fmt.Errorf("%s%s: %s", export, signature(definition), fmt.Sprintf(format, values...))
	}
	allTexts := len(args) > 0 && 2*len(args) == len(params)
	var read []argument
	p := 0
	for i, arg := range args {
		if p >= len(params) {
			return nil, wrong("argument %d, %q, is one too many%s", i+1, arg, misplaced(arg))
		}
		number, err := number(params[p], arg)
		pair := p+1 < len(params) && params[p] == api.ValueTypeI32 && params[p+1] == api.ValueTypeI32
		text, marked := strings.CutPrefix(arg, textPrefix)
		switch {
		case pair && (marked || allTexts || err != nil):
			read = append(read, argument{text: text, isText: true})
			p += 2
		case marked:
			return nil, wrong("argument %d is a text, which takes two parameters of type i32, an address and a "+
				"length; there is %s", i+1, types(params[p:min(p+2, len(params))]))
		case err != nil:
			return nil, wrong("argument %d, %q, is for a parameter of type %s: %v", i+1, arg, typeName(params[p]), err)
		default:
			read = append(read, argument{number: number})
			p++
		}
	}
	if p < len(params) {
		return nil, wrong("after %d arguments there is none for %s (a number for each; a text, written as it is or "+
			"as %sTEXT, takes two i32)", len(args), types(params[p:]), textPrefix)
	}
	return read, nil
}

// misplaced returns a hint for an unexpected word on the command line that looks like a flag, else nothing.
func misplaced(word string) string {
	if strings.HasPrefix(word, "--") {
		return "; flags stand before the file"
	}
	return ""
}

// number reads a number of a type.
func number(t api.ValueType, text string) (uint64, error) {
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
				"put it on; if there is one, name by --stack-pointer what points to it")
		}
		// Where the guest's own stack ends nobody can tell: what lies below is the program's data.
		low := c.high - min(c.high, g.plan.Size)
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

func format(t api.ValueType, v uint64) string {
	switch t {
	case api.ValueTypeI32:
		return strconv.FormatInt(int64(api.DecodeI32(v)), 10)
	case api.ValueTypeI64:
		return strconv.FormatInt(int64(v), 10)
	case api.ValueTypeF32:
		return strconv.FormatFloat(float64(api.DecodeF32(v)), 'g', -1, 32)
	case api.ValueTypeF64:
		return strconv.FormatFloat(api.DecodeF64(v), 'g', -1, 64)
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
