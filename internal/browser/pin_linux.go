package browser

import (
	"context"
	"fmt"

	"golang.org/x/sys/unix"
)

// Pin has the main threads of all pages that are open run on the same processor from now on, each other thread where it
// likes. What is to be compared in two tabs needs that: of two processors of a virtual machine one may share its core
// with a stranger's, and be slower by half. A page that is opened later is not pinned. Only on Linux; elsewhere it does
// nothing.
func (b *Browser) Pin(ctx context.Context) error {
	var ours, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &ours); err != nil {
		return fmt.Errorf("browser: pin: %w", err)
	}
	for cpu := 0; one.Count() == 0; cpu++ {
		if ours.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	processes, err := b.processes(ctx)
	if err != nil {
		return err
	}
	for _, process := range processes {
		if process.Type == "renderer" {
			// The number of a process is that of its first thread, on which its page's scripts run. That it has ended
			// is no error.
			if err := unix.SchedSetaffinity(int(process.ID), &one); err != nil && err != unix.ESRCH {
				return fmt.Errorf("browser: pin: %w", err)
			}
		}
	}
	return nil
}
