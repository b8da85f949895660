//go:build !linux

package browser

import "context"

// Pin does nothing here; see pin_linux.go.
func (b *Browser) Pin(context.Context) error { return nil }
