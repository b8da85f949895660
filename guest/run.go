package guest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/sys"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/internal/shadow"
)

// How a call runs, as a fiber: from its turn by its waits to its end.

func (c *Call) become(state State, waitsFor string) {
	c.State, c.WaitsFor, c.Since = state, waitsFor, time.Now()
}

// run is the fiber.
func (c *Call) run(f *asyncio.Fiber) {
	g := c.guest
	c.face = &Fiber{f, c}
	defer func() {
		if !c.Over() { // an import has called runtime.Goexit
			c.end(Failed, fmt.Errorf("fiber %s was ended in export %s by runtime.Goexit", c.Name, c.Export))
		}
	}()
	if err := g.initialized(c); err != nil {
		c.end(Cancelled, err)
		return
	}
	if g.places != nil {
		if err := g.places.Acquire(f); err != nil {
			c.end(Cancelled, err)
			return
		}
		defer g.places.Release()
	}
	if err := c.turn(f); err != nil {
		c.end(Cancelled, err)
		return
	}
	if g.exited != nil {
		c.end(Cancelled, g.exited)
		return
	}
	c.become(Running, "")
	g.running = c
	args, err := c.start()
	if err != nil {
		c.end(Failed, fmt.Errorf("fiber %s cannot start export %s: %w", c.Name, c.Export, err))
		return
	}
	call := func() ([]uint64, error) {
		return g.module.ExportedFunction(c.Export).Call(context.WithValue(f, callKey{}, c), args...)
	}
	var results []uint64
	if g.proposal != nil {
		results, err = g.proposal.enter(c, call)
	} else {
		results, err = call()
	}
	c.Results = values(g.exports[c.Export].ResultTypes(), results)
	if c.death == nil {
		end := uint32(unknown)
		if err != nil && g.proposal == nil { // otherwise the pointer may be in the region of another fiber
			end = g.reach()
		}
		c.death = c.overflow(end)
	}
	g.rest()
	// What imports have left running may still use the stack, so it ends before the call does.
	over := func(state State, err error) {
		if failed := f.EndAll(); failed != nil {
			c.Results = nil
			if state == Done {
				state, err = Failed, fmt.Errorf("fiber %s failed in export %s: %w", c.Name, c.Export, failed)
			} else {
				err = errors.Join(err, failed)
			}
		}
		c.end(state, err)
	}
	exit, trap := (*sys.ExitError)(nil), (*TrapError)(nil)
	switch {
	case c.death != nil:
		state := Cancelled
		if errors.As(c.death, &trap) {
			state = Failed
		}
		over(state, c.death)
	case err == nil:
		over(Done, nil)
	case c.panicked == nil && errors.As(err, &exit):
		c.exit(exit.ExitCode())
	case c.panicked == nil && errors.As(err, &trap): // its shadow stack has overflowed
		trap.Fibers = g.proposal.atTrap
		over(Failed, trap)
	case !strings.HasPrefix(err.Error(), "wasm error: uncaught exception"): // the runtime exports no such error
		trap = &TrapError{Fiber: c.Name, Export: c.Export}
		if c.panicked != nil {
			trap.Reason = c.panicked
		} else {
			trap.Reason = g.withPanicText(f, err)
		}
		if g.proposal != nil {
			trap.Fibers = g.proposal.atTrap
		}
		over(Failed, trap)
	case c.threw == nil:
		over(Failed, fmt.Errorf("fiber %s failed in export %s: an exception of the guest's own that nobody has caught",
			c.Name, c.Export))
	case f.Err() != nil && errors.Is(c.threw, context.Cause(f)):
		over(Cancelled, context.Cause(f))
	default:
		over(Failed, fmt.Errorf("fiber %s failed in export %s: %w", c.Name, c.Export, c.threw))
	}
}

// turn waits until no other call runs, if the guest allows only one at a time: because all its fibers have their stacks
// in the same place, or because it uses one of the proposals, whose machine has one root. Each call waits for the call
// before it, so that the end of a call wakes only one. If the call before it was cancelled while it waited for its
// turn, the call then waits for the running one.
func (c *Call) turn(f *asyncio.Fiber) error {
	g := c.guest
	if !g.serial {
		return nil
	}
	before := g.last
	g.last = f
	if before != nil {
		f.Wait(before)
	}
	for g.holder != nil && f.Err() == nil {
		f.Wait(g.holder.fiber)
	}
	if f.Err() == nil {
		g.holder = c
	}
	return context.Cause(f)
}

// start gives the fiber its region and lays its arguments on it.
func (c *Call) start() ([]uint64, error) {
	g := c.guest
	g.rest() // another fiber, which has begun to wait, has left it elsewhere; malloc may need it
	c.high = g.base
	if g.regions != nil {
		var err error
		if c.region, err = g.regions.take(c); err != nil {
			return nil, err
		}
		c.high = c.region.high
	}
	return c.place()
}

// end is the end of every call.
func (c *Call) end(state State, err error) {
	g := c.guest
	c.closed.Store(true)
	if c.region != nil {
		g.regions.give(c.region)
		c.region = nil
	}
	if g.holder == c {
		g.holder = nil
	}
	c.Err = err
	c.become(state, "")
	if g.over++; 2*g.over > len(g.calls) {
		g.calls, g.over = g.Calls(), 0
	}
	if g.options.Ended != nil {
		g.options.Ended(c)
	}
}

// exit ends all fibers: the guest has called proc_exit, and its instance is closed.
func (c *Call) exit(code uint32) {
	err := &ExitError{c.Name, code}
	c.guest.exited = err
	c.end(Done, err)
	for _, other := range c.guest.Calls() {
		other.kill(err)
	}
}

// kill ends another fiber without any of its code being run.
func (c *Call) kill(err error) {
	if c.State == Waiting {
		c.death = err
	}
	if c.fiber != nil { // otherwise Run has not started it, and will not
		c.fiber.Cancel(err)
	}
}

// wait performs every wait of a fiber; the parameter what says what the fiber waits for. It returns the error of the
// wait, and does not return if the fiber must not run any more.
func (c *Call) wait(what string, wait func() error) error {
	g := c.guest
	if c.death = c.overflow(g.end()); c.death != nil {
		panic(c.death)
	}
	if c.fiber.Err() != nil {
		if c.swallowed++; c.swallowed > patience {
			c.death = &TrapError{Fiber: c.Name, Export: c.Export, Reason: fmt.Errorf("it was cancelled and has begun "+
				"%d "+
				"waits since", patience)}
			panic(c.death)
		}
	}
	if g.pointer != nil {
		c.saved = uint32(g.pointer.Get())
		if g.plan.Source == shadow.Copy && c.saved < c.high {
			used, _ := g.memory.Read(c.saved, c.high-c.saved)
			c.stack = slices.Clone(used)
		}
	}
	c.become(Waiting, what)
	err := g.park(wait)
	c.become(Running, "")
	g.running = c
	if c.death != nil {
		panic(c.death)
	}
	if g.pointer != nil {
		g.memory.Write(c.saved, c.stack)
		c.stack = nil
		g.pointer.Set(uint64(c.saved))
	}
	return err
}

// park waits, on the goroutine of the call.
func (g *Guest) park(wait func() error) (err error) {
	p := g.proposal
	if p == nil {
		return wait()
	}
	if p.inside != "" {
		p.refuse("%s must not wait", p.inside)
	}
	p.system.Outside(func() { err = wait() })
	return err
}

// unknown says that nobody knows where a stack ends now.
const unknown = math.MaxUint32

// end is where the stack ends of the fiber that runs.
func (g *Guest) end() uint32 {
	if g.pointer == nil || g.plan.Wanders {
		return unknown
	}
	return uint32(g.stackPointer())
}

// reach is where the stack of a fiber ends that has trapped: a trap leaves the pointer where it was. Beyond the memory
// it has gone below the lowest address.
func (g *Guest) reach() uint32 {
	end := g.end()
	if end != unknown && end-1 > g.memory.Size()-1 {
		return 0
	}
	return end
}

// overflow returns the error for a fiber that has written below its region, or whose stack ends below it. It ends the
// fibers whose regions the overflow has reached.
func (c *Call) overflow(end uint32) error {
	g, region := c.guest, c.region
	if g.proposal != nil && g.proposal.current != nil {
		region = g.proposal.current.region
	}
	if region == nil || end >= region.low && g.regions.state(region) == 0 {
		return nil
	}
	// How deep the stack went is only known if it is that deep still; otherwise only the overwritten guards show that
	// it was deeper.
	low, lost, spoilt := g.regions.mend(region, end)
	size := g.regions.size
	depth := region.high - low
	reason := fmt.Errorf("it needs more shadow stack than the %d bytes it has: at least %d. Ask for more by "+
		"Options.Stacks.Size = %d", size, depth, shadow.Enough(depth))
	if spoilt {
		const damage = "may have damaged the guest's data: make a new guest"
		g.regions.spoilt = fmt.Errorf("fiber %s has overflowed its shadow stack and %s", c.Name, damage)
		reason = fmt.Errorf("%w; the overflow %s", reason, damage)
	}
	for _, below := range lost {
		below.lost = fmt.Errorf("it lost its shadow stack to fiber %s: %w", c.Name, reason)
		if other := below.call; other != nil && other != c {
			other.kill(&TrapError{Fiber: other.Name, Export: other.Export, Reason: below.lost})
		}
	}
	return &TrapError{Fiber: c.Name, Export: c.Export, Reason: reason}
}
