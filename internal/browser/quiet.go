package browser

import (
	"context"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/systeminfo"
	"github.com/chromedp/chromedp"
)

// Quiet returns when all processes of the browser together have used less than a tenth of a processor for a tenth of a
// second. After opening a tab the browser is busy for a second or two, preparing the next tab among other things, which
// would disturb measurements. The error is ctx's, or says that the browser has exited.
func (b *Browser) Quiet(ctx context.Context) error {
	const window = 100 * time.Millisecond
	tick := time.NewTicker(window)
	defer tick.Stop()
	before := -1.0
	for {
		processes, err := b.processes(ctx)
		if err != nil {
			return err
		}
		var used float64 // seconds
		for _, process := range processes {
			used += process.CPUTime
		}
		// used shrinks if a process has ended.
		if before >= 0 && used >= before && used-before < window.Seconds()/10 {
			return nil
		}
		before = used
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// processes returns the browser's list of its processes.
func (b *Browser) processes(ctx context.Context) ([]*systeminfo.ProcessInfo, error) {
	info, err := cdp.Call(ctx, chromedp.FromContext(b.ctx).Browser, systeminfo.GetProcessInfo, cdp.Empty{})
	if err != nil {
		return nil, fmt.Errorf("browser: its processes: %w", err)
	}
	return info.ProcessInfo, nil
}
