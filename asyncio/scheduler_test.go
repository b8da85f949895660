package asyncio_test

import (
	"testing"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/internal/schedtest"
)

// plain is the scheduler as Go runs it; jsglue/core tests it as pages do.
type plain struct{ asyncio.Scheduler }

func (p *plain) Live() int { return p.Machine.Live() }

func TestScheduler(t *testing.T) {
	schedtest.Run(t, func(*testing.T) schedtest.Unused { return new(plain) })
}

// A scheduler that keeps no log, and so takes the short way of Yield, names the same fibers as one that keeps a log.
func TestRandomOperations(t *testing.T) {
	for range 10 {
		schedtest.Differential(t, new(plain), new(plain), 20_000)
	}
}
