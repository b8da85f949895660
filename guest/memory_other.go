//go:build !linux && !darwin

package guest

import "context"

// reserve leaves the guest's memory to the runtime.
func (g *Guest) reserve(ctx context.Context) context.Context { return ctx }
