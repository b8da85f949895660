package asyncio_test

import (
	"testing"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/internal/conformance"
)

// plain is the scheduler as Go runs it; jsglue/core tests it as pages do.
type plain struct{ asyncio.Scheduler }

func (p *plain) Live() int { return p.Machine.Live() }

func TestScheduler(t *testing.T) {
	conformance.Run(t, func(*testing.T) conformance.Unused { return new(plain) })
}

// Against itself the comparison shows nothing, but the log of random operations is judged.
func TestRandomOperations(t *testing.T) {
	conformance.Differential(t, new(plain), new(plain), 100_000)
}
