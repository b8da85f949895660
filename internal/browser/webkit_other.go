//go:build !linux

package browser

import (
	"context"
	"errors"
)

// WebKit runs only on Linux; see webkit_linux.go.
func WebKit(context.Context, string, func(context.Context) ([]byte, error)) ([]byte, error) {
	return nil, errors.New("browser: WebKitGTK is driven on Linux only")
}
