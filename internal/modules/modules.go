// Package modules compiles modules with wazero.
package modules

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
)

// Compile compiles a module. The runtime's own CompileModule panics for some modules that are not valid, which may come
// from anybody; for those, too, Compile returns an error.
func Compile(ctx context.Context, r wazero.Runtime, binary []byte) (compiled wazero.CompiledModule, err error) {
	defer func() {
		if v := recover(); v != nil {
			compiled, err = nil, fmt.Errorf("it is not valid: its validation has failed with %v", v)
		}
	}()
	return r.CompileModule(ctx, binary)
}
