package e2e_test

import "testing"

// The rules between JavaScript and fibers, for the built script in Chromium. Each test calls the function of the same
// name in testdata/pages/rules.js, which throws if the rule is broken.

func obeys(t *testing.T, rule string) {
	t.Helper()
	open(t, "rules.html").Eval(t, "rules."+rule, nil)
}

// --- exports

// Every call of an export returns a Promise and makes a fiber, with a stack of its own.
func TestJ_EXP_1_EveryCallIsAFiber(t *testing.T) { obeys(t, "J_EXP_1") }

// The export's result resolves the Promise; an exception or a trap rejects it. A call never throws.
func TestJ_EXP_2_ReturnResolvesThrowRejects(t *testing.T) { obeys(t, "J_EXP_2") }

// Inside the call current() is the fiber, because a guest cannot take it as its first argument. The arguments are
// passed in order.
func TestJ_EXP_3_CurrentIsTheFiber(t *testing.T) { obeys(t, "J_EXP_3") }

// A call that never waits resolves, too.
func TestJ_EXP_4_ACallWithoutAWaitResolves(t *testing.T) { obeys(t, "J_EXP_4") }

// The call returns with its Promise pending. It settles once, when the function ends; concurrent calls settle in the
// order in which they end.
func TestJ_EXP_5_SettlesOnceInOrderOfCompletion(t *testing.T) { obeys(t, "J_EXP_5") }

// --- imports

// A waiting import is called with the guest's arguments, and current() is the fiber. The fiber is suspended until the
// Promise settles, and goes on with the Promise's value.
func TestJ_IMP_1_APromiseSuspendsItsCaller(t *testing.T) { obeys(t, "J_IMP_1") }

// A thenable that calls back at once does so after the fiber is suspended.
func TestJ_IMP_2_NoCallbackBeforeTheSuspension(t *testing.T) { obeys(t, "J_IMP_2") }

// The import returns the value that its Promise resolved to, of any type, or throws the reason that it rejected with.
func TestJ_IMP_3_ValueOrException(t *testing.T) { obeys(t, "J_IMP_3") }

// An import that returns no Promise returns at once, without a suspension; one that throws, throws at once.
func TestJ_IMP_4_NoPromiseNoSuspension(t *testing.T) { obeys(t, "J_IMP_4") }

// A fiber that a callback resumed may be suspended again, return, throw and trap.
func TestJ_IMP_5_ResumedFromACallback(t *testing.T) { obeys(t, "J_IMP_5") }

// An exception in a microtask becomes the rejection of its fiber; nothing escapes.
func TestJ_IMP_6_NothingEscapesFromAMicrotask(t *testing.T) { obeys(t, "J_IMP_6") }

// --- multiplexing

// Only the event loop sees that I/O is complete, after the running wasm has given control back.
func TestJ_MUX_1_CompletionIsSeenByTheEventLoop(t *testing.T) { obeys(t, "J_MUX_1") }

// All fibers issue their requests before the application returns to the event loop.
func TestJ_MUX_2_AllRequestsBeforeThePause(t *testing.T) { obeys(t, "J_MUX_2") }

// The application pauses once for everything outstanding, not once for each fiber.
func TestJ_MUX_3_OnePauseForAll(t *testing.T) { obeys(t, "J_MUX_3") }

// A completion enters the scheduler, which resumes its client with the data.
func TestJ_MUX_4_TheSchedulerResumes(t *testing.T) { obeys(t, "J_MUX_4") }

// An attempt to enter a leaf from a callback does not succeed.
func TestJ_MUX_5_NoLeafIsEnteredDirectly(t *testing.T) { obeys(t, "J_MUX_5") }

// Completions that come while fibers run are queued and drained in the order in which they came, none lost, none twice.
func TestJ_MUX_6_CompletionsAreQueued(t *testing.T) { obeys(t, "J_MUX_6") }

// A completion for a fiber that has ended, or that waits for something else by now, is dropped.
func TestJ_MUX_7_LateCompletionsAreDropped(t *testing.T) { obeys(t, "J_MUX_7") }

// A client's wait ends with success, an error, or its cancellation.
func TestJ_MUX_8_SuccessErrorCancel(t *testing.T) { obeys(t, "J_MUX_8") }

// With nothing ready the scheduler pauses, and completes when nothing is outstanding. It neither spins nor pauses for
// ever.
func TestJ_MUX_10_Termination(t *testing.T) { obeys(t, "J_MUX_10") }

// --- identity

// A fiber is the same object in all its states and for all code.
func TestJ_ID_1_AFiberIsStable(t *testing.T) { obeys(t, "J_ID_1") }

// A callback holds the fiber, not its place in a table or its stack, which other fibers reuse.
func TestJ_ID_2_CallbacksHoldTheFiber(t *testing.T) { obeys(t, "J_ID_2") }
