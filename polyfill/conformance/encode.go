package conformance

import (
	"embed"
	"encoding/binary"
	"fmt"

	"github.com/fiberfill/fiberfill/polyfill"
)

//go:embed player/*.wasm
var players embed.FS

// Player returns the wasm of the guest that plays scripts of a system; player/player.c says what a host does with it.
// All of them have the same exports. They import the operations of their system and "host" "call", which takes a
// function and its argument and passes both to the export "called", synchronously, so that a frame of the host lies
// between.
func Player(s System) []byte {
	binary, err := players.ReadFile("player/" + string(s) + ".wasm")
	if err != nil {
		panic(err)
	}
	return binary
}

// The layout of player.h.
const (
	headSize    = 64
	opSize      = 32
	outcomeSize = 40
	maxOps      = 1024
	maxOn       = 18
)

// Encode returns a script as it stands in a player's memory, with the signatures and tags that it uses.
func Encode(s Script) ([]byte, error) {
	if len(s.Ops) > maxOps {
		return nil, fmt.Errorf("a player has room for %d operations, the script has %d", maxOps, len(s.Ops))
	}
	b := make([]byte, headSize, headSize+opSize*len(s.Ops))
	binary.LittleEndian.PutUint32(b, uint32(len(s.Ops)))
	for i := range Signatures {
		binary.LittleEndian.PutUint32(b[4+4*i:], uint32(Types(int8(i))))
	}
	for i, t := range Tags {
		b[36+2*i], b[37+2*i] = byte(t.Params), byte(t.Results)
	}
	for _, o := range s.Ops {
		if len(o.On) > maxOn {
			return nil, fmt.Errorf("a player has room for %d tags in one operation, there are %d in %q", maxOn,
				len(o.On), o.Text(s.System))
		}
		b = append(b, byte(o.Code), byte(o.A), byte(o.B), byte(o.Tag))
		b = binary.LittleEndian.AppendUint16(b, uint16(o.N))
		b = binary.LittleEndian.AppendUint16(b, uint16(o.If))
		b = append(b, byte(o.As), byte(o.Gives), byte(o.Wants), truth(o.Maybe), truth(o.Catch), byte(len(o.On)))
		for i := range maxOn {
			if i < len(o.On) {
				b = append(b, byte(o.On[i]))
			} else {
				b = append(b, 0)
			}
		}
	}
	return b, nil
}

func truth(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// Decode returns the outcomes that a player has recorded: the bytes at trace(), 40 for each of count().
func Decode(b []byte) ([]Outcome, error) {
	if len(b)%outcomeSize != 0 {
		return nil, fmt.Errorf("%d bytes are not a list of outcomes, which have %d each", len(b), outcomeSize)
	}
	trace := make([]Outcome, 0, len(b)/outcomeSize)
	for ; len(b) > 0; b = b[outcomeSize:] {
		number := func(at int) int16 { return int16(binary.LittleEndian.Uint16(b[at:])) }
		o := Outcome{
			Kind: Kind(b[0]), Label: int8(b[1]), Tag: int8(b[2]), Len: int8(b[3]),
			Who: number(4), N: number(6), Ref: number(8), Trap: polyfill.Trap(b[10]),
			Types: polyfill.Types(binary.LittleEndian.Uint32(b[12:])),
		}
		if o.Kind > Trapped || o.Len < 0 || int(o.Len) > len(o.Values) {
			return trace, fmt.Errorf("outcome %d is invalid: % x", len(trace), b[:outcomeSize])
		}
		for i := range o.Values {
			o.Values[i] = binary.LittleEndian.Uint64(b[16+8*i:])
		}
		trace = append(trace, o)
	}
	return trace, nil
}
