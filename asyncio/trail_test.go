//go:build !tinygo

package asyncio_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fiberfill/fiberfill/asyncio"
)

// trail is the list of events, in order.
type trail []string

func (t *trail) add(format string, args ...any) { *t = append(*t, fmt.Sprintf(format, args...)) }

func (t trail) want(tb testing.TB, want ...string) {
	tb.Helper()
	if !slices.Equal(t, want) {
		tb.Errorf("happened\n\t%s\nwant\n\t%s", strings.Join(t, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// sleeper sleeps for an hour and notes the error that ended the sleep.
func (t *trail) sleeper(f *asyncio.Fiber) error {
	err := asyncio.Sleep(f, time.Hour)
	t.add("%s: %v", f.Name(), err)
	return err
}
