package browser

import (
	"context"
	"errors"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// CPU returns how much processor time the page's main thread has used for tasks so far: scripts and their microtasks,
// the answers of fetches, layout, garbage collection. Time in which the thread waited, or waited for a processor, is not in
// it. The count begins at the first call; only differences mean something.
func (t *Tab) CPU(ctx context.Context) (used time.Duration, err error) {
	err = t.do(ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		domain := performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}
		if _, err := cdp.Call(ctx, target, performance.Enable, domain); err != nil {
			return err
		}
		result, err := cdp.Call(ctx, target, performance.GetMetrics, cdp.Empty{})
		if err != nil {
			return err
		}
		for _, metric := range result.Metrics {
			if metric.Name == "TaskDuration" {
				used = time.Duration(metric.Value * float64(time.Second))
				return nil
			}
		}
		return errors.New("browser: no TaskDuration among the metrics of the page")
	}))
	return used, err
}
