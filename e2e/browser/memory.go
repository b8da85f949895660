package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/systeminfo"
	"github.com/chromedp/chromedp"
)

// PeakMemory returns the most memory, in bytes, that any process of a page has had so far. A Tab has a process of its own,
// so after a test that needs much it is the test's. Only on Linux, where the system tells it.
func (b *Browser) PeakMemory(ctx context.Context) (peak int64, err error) {
	info, err := cdp.Call(ctx, chromedp.FromContext(b.ctx).Browser, systeminfo.GetProcessInfo, cdp.Empty{})
	if err != nil {
		return 0, fmt.Errorf("browser: %w", err)
	}
	for _, process := range info.ProcessInfo {
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
		return 0, errors.New("browser: no process of a page tells its memory")
	}
	return peak, nil
}
