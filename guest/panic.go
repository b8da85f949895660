package guest

import (
	"bytes"
	"context"
	"fmt"

	"github.com/tetratelabs/wazero/api"
)

// panicExport is the export by which a guest tells the text of its last panic; see docs/errors.md, "trap". It returns
// the address of a text with a zero behind it, or 0, and is called once beforehand, so that the guest can prepare.
const panicExport = "fiberfill_panic"

// panicText returns the text that the guest's last panic has left, "" if there is none.
func (g *Guest) panicText(ctx context.Context) string {
	f := g.module.ExportedFunction(panicExport)
	if f == nil || g.memory == nil {
		return ""
	}
	d := f.Definition()
	if len(d.ParamTypes()) != 0 || !bytes.Equal(d.ResultTypes(), []api.ValueType{api.ValueTypeI32}) {
		return ""
	}
	results, err := f.Call(ctx)
	if err != nil || uint32(results[0]) == 0 {
		return "" // the trap itself has to be told
	}
	at := uint32(results[0])
	text, _ := g.memory.Read(at, max(g.memory.Size(), at)-at)
	text, _, ended := bytes.Cut(text, []byte{0})
	if !ended {
		return ""
	}
	return string(text)
}

// withPanicText returns the error of a trap with the text of the panic that it may have been.
func (g *Guest) withPanicText(ctx context.Context, trap error) error {
	if text := g.panicText(ctx); text != "" {
		return fmt.Errorf("%s: %w", text, trap)
	}
	return trap
}
