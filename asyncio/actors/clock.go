package actors

import "time"

// Clock is what a [Runtime] knows of time.
type Clock interface {
	// Now returns the time that has passed since some fixed moment. It never goes back.
	Now() time.Duration
	// Sleep returns when d has passed at least.
	Sleep(d time.Duration)
}

// RealClock returns a clock that begins at zero and goes by itself.
func RealClock() Clock { return realClock{time.Now()} }

type realClock struct{ start time.Time }

func (c realClock) Now() time.Duration    { return time.Since(c.start) }
func (c realClock) Sleep(d time.Duration) { time.Sleep(d) }

// VirtualClock stands still unless somebody sleeps by it, which takes no time. The zero clock shows zero.
type VirtualClock struct{ now time.Duration }

func (c *VirtualClock) Now() time.Duration { return c.now }

// Sleep puts the clock forward by d.
func (c *VirtualClock) Sleep(d time.Duration) { c.now += max(0, d) }
