// Package run is the Go substrate: it lets Go functions be the fibers of the four systems, with values, exceptions and
// traps.
//
// The packages fibers1, fibers2, stacks and cont decide which computation runs next. Here each computation is a Go
// coroutine, and a decision becomes a jump:
//
//	[Fibers1]  fibers v1         Spawn, Suspend, Resume, Switch, Retire, ...
//	[Fibers2]  fibers v2         Mount, Switch, Dismount, ...
//	[Stacks]   stack references  Switch, SwitchRetire, Bind, ...
//	[Cont]     cont              Resume, Suspend, Forward, Throw, ...
//
// A generator in fibers1 and the function that adds up what it yields:
//
//	v := run.NewFibers1()
//	defer v.Close()
//	yield, next := v.Tag("yield", polyfill.I32), v.Tag("next")
//	onYield, onNext := v.On(yield), v.On(next)
//	results, err := v.Call(func() []run.Value {
//		generator := v.New("generator", 0, onNext, func(self polyfill.Fiber, _ run.Event) []run.Value {
//			for _, el := range els {
//				v.Suspend(self, onNext, yield, run.I32(el))
//			}
//			return nil
//		})
//		total := int32(0)
//		for {
//			switch e := v.Resume(generator, onYield, next); e.Tag {
//			case yield:
//				total += e.I32(0)
//			default: // returned
//				return []run.Value{run.I32(total)}
//			}
//		}
//	})
//
// Fibers are made, entered and left only inside Call, which is the embedder's entry; tags and tables can be made
// anywhere. The examples show the same in the other systems.
//
// # How control jumps
//
// Every fiber that has started is a coroutine of [iter.Pull]. A coroutine can give control only to its puller; a fiber
// can give it to any other fiber. So the root, or a busy fiber, pulls the fiber that runs below it, in a loop. A fiber
// that leaves notes which fiber is next and gives control back to the loop. The loop pulls that next fiber; if the
// looping fiber has itself been suspended with those below it, it gives control further down. A resume and the suspend
// that answers it are one step of iter.Pull; a switch to a fiber that takes the issuer's place is two. A fiber that has
// never been entered has no coroutine.
//
// # Exceptions and traps
//
// An exception is thrown by [Throw] and caught by [Try]. An exception that leaves a fiber goes on in the parent, where
// the parent waits, as the same pointer.
//
// A trap cannot be caught by the code of fibers (K-9). It ends all fibers of the live chain and surfaces as the [Trap]
// that Call returns; fibers that are not in the chain stay as they are. A refused operation traps. So does a Go panic
// with any value that leaves a fiber.
//
// # Ends
//
// Ending a fiber runs none of the statements after its wait. A private panic unwinds its goroutine, so deferred
// functions run. A deferred function that recovers the panic does not stop the unwinding: the next operation, or the
// end of the function, goes on with it. A fiber that is never ended keeps its goroutine; Close ends all that are left.
//
// # Concurrency
//
// A system belongs to one thread of control, which is on the goroutine of the running fiber. An operation panics on any
// other goroutine, and outside Call.
package run
