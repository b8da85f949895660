package browser

import (
	"context"
	"fmt"

	"golang.org/x/sys/unix"
)

// Pin makes the main threads of all open pages run on the same processor from now on; other threads are not affected.
// Comparisons between tabs need this: one of two processors of a virtual machine may share its core with another
// machine, and be slower by half. Pages opened later are not pinned. Pin works only on Linux; elsewhere it does
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
			// A process id is the id of its first thread, which runs the page's scripts. ESRCH: the process has ended,
			// which is no error.
			if err := unix.SchedSetaffinity(int(process.ID), &one); err != nil && err != unix.ESRCH {
				return fmt.Errorf("browser: pin: %w", err)
			}
		}
	}
	return nil
}
