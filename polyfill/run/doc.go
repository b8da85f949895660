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
// Everything that makes, enters or leaves a fiber happens inside of Call, which is the embedder's entry; tags and
// tables are made anywhere. The examples show the same in the other systems.
//
// # How control jumps
//
// Every fiber that has started is a coroutine of [iter.Pull]. Coroutines know only one way back, to whoever pulled;
// fibers go to any other. So whoever enters a fiber and stays in the live chain, the root or a busy fiber, pulls
// whoever runs below it, in a loop: a fiber that leaves notes who is next and gives control back, and the loop pulls
// that one, or gives control further down if it has itself been suspended with the fibers below it. A resume and the
// suspend that answers it are one step of iter.Pull; from one fiber to another that takes its place are two. A fiber
// that has never been entered has no coroutine.
//
// # Exceptions and traps
//
// An exception is thrown by [Throw] and caught by [Try]. One that leaves a fiber goes on in its parent, the same
// pointer, where the parent waits.
//
// A trap cannot be caught by the code of fibers (K-9). It ends all fibers of the live chain and surfaces as the [Trap]
// that Call returns; fibers that are not in the chain stay as they are. Operations that are refused trap, and so does a
// Go panic that leaves a fiber, whatever its value.
//
// # Ends
//
// Ending a fiber runs none of the statements behind its wait. Its goroutine has to be unwound, though, which is done by
// a private panic: deferred functions run. One that recovers the panic gains nothing: the next operation, or the end of
// the function, goes on with the unwinding. The wait of a fiber that is never ended keeps its goroutine; Close ends all
// that are left.
//
// # Concurrency
//
// A system belongs to one thread of control, which is on the goroutine of the fiber that runs. An operation on any
// other goroutine panics, and if there is no Call.
package run
