package actors

import "time"

// Clock tells a [Runtime] the time.
type Clock interface {
	// Now returns the time since some fixed moment. It never goes back.
	Now() time.Duration
	// Sleep returns after at least d.
	Sleep(d time.Duration)
}

// RealClock returns a clock that starts at zero and shows real time.
func RealClock() Clock { return realClock{time.Now()} }

type realClock struct{ start time.Time }

func (c realClock) Now() time.Duration    { return time.Since(c.start) }
func (c realClock) Sleep(d time.Duration) { time.Sleep(d) }

// VirtualClock advances only by Sleep, which returns at once. The zero VirtualClock shows zero.
type VirtualClock struct{ now time.Duration }

// Now returns by how much the clock has been advanced.
func (c *VirtualClock) Now() time.Duration { return c.now }

// Sleep advances the clock by d and returns at once.
func (c *VirtualClock) Sleep(d time.Duration) { c.now += max(0, d) }
