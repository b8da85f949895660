package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
)

// PeakMemory returns the peak memory, in bytes, of the largest page process so far. A Tab has a process of its own, so
// after a memory-hungry test it is that test's peak. It works only on Linux.
func (b *Browser) PeakMemory(ctx context.Context) (peak int64, err error) {
	processes, err := b.processes(ctx)
	if err != nil {
		return 0, err
	}
	for _, process := range processes {
		if process.Type != "renderer" {
			continue
		}
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", process.ID))
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
		if fields := bytes.Fields(rest); len(fields) > 0 {
			kb, _ := strconv.ParseInt(string(fields[0]), 10, 64)
			peak = max(peak, kb<<10)
		}
	}
	if peak == 0 {
		return 0, errors.New("browser: no page process reports its memory")
	}
	return peak, nil
}
