package actors

import (
	"errors"
	"fmt"
	"time"

	"github.com/fiberfill/fiberfill/internal/queue"
	"github.com/fiberfill/fiberfill/internal/wheel"
)

// ID names an actor; a runtime never uses an ID twice. The first is 1. As the source of a message, 0 means the world
// outside.
type ID int64

// Message is a message to an actor. The payload is the receiver's own copy.
type Message struct {
	Type    int32
	Source  ID
	Payload []byte
}

// StackClass is the size of a guest's stack in bytes. Values other than the constants are refused (E-CLASS-2).
type StackClass int32

const (
	StackNone StackClass = StackClass(wheel.None) // no fiber: blocking calls return -1
	Stack32K  StackClass = StackClass(wheel.C32K) // 32 KB
	Stack64K  StackClass = StackClass(wheel.C64K) // 64 KB
	Stack128K StackClass = StackClass(wheel.C128) // 128 KB
)

// Guest is the code of a guest actor.
type Guest interface {
	// HandleMessage handles one message at a time, on the actor's own stack. It returns 1 to stay alive and 0 to end. A
	// panic is a trap: it ends only this actor.
	HandleMessage(h *Host, m Message) int32
}

// Resources is implemented by a [Guest] that owns resources, as an instance of a wasm module does.
type Resources interface {
	// Open is called once, by [Runtime.Spawn]. It allocates what an actor of the class needs, including the guest's
	// part of the stack. If Open fails, the spawn fails and Close is not called.
	Open(class StackClass) error
	// Close is called once, when the actor is over and none of its code will run.
	Close()
}

// GuestFunc makes a function a [Guest].
type GuestFunc func(h *Host, m Message) int32

// HandleMessage calls the function.
func (f GuestFunc) HandleMessage(h *Host, m Message) int32 { return f(h, m) }

// Native is the code of a native actor. It runs on the runtime's stack and cannot block. It returns whether the actor
// stays alive. A panic ends the actor, as a guest's does.
type Native func(h *Host, m Message) bool

// Factory has everything needed to spawn a guest any number of times, for code that restarts actors. See
// [Runtime.Spawn] for the parts.
type Factory struct {
	Guest   func() Guest // called once for each actor
	Mailbox int
	Class   StackClass
}

// Info describes an actor.
type Info struct {
	Class    StackClass
	Native   bool
	Blocked  bool
	WaitsFor string        // in words; empty if it is not blocked
	Deadline time.Duration // of the wait, by the runtime's clock; 0: none
	Mailbox  int           // messages that wait in the mailbox
}

// The reasons why an operation is refused.
var (
	ErrNoActor     = errors.New("actors: no such actor: it has ended or never existed")
	ErrMailboxFull = errors.New("actors: the mailbox is full")
	ErrClass       = errors.New("actors: not a stack class: it must be 0, 32768, 65536 or 131072")
	ErrMailbox     = errors.New("actors: a mailbox must have room for at least one message")
	ErrClosed      = errors.New("actors: the runtime has been closed")
	ErrNoStack     = errors.New("actors: no memory for the actor's stack")
)

// TrapError is the error of an actor whose handler panicked.
type TrapError struct {
	Actor ID
	Value any    // what was passed to panic
	Stack []byte // the handler's stack at the panic, as text
}

func (e *TrapError) Error() string {
	return fmt.Sprintf("actors: the handler of actor %d trapped: %v", e.Actor, e.Value)
}

// Unwrap returns Value if it is an error.
func (e *TrapError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// IdleError reports that all remaining actors wait for messages, and nobody is left to send any.
type IdleError struct {
	Blocked []string // each blocked actor and what it waits for
}

func (e *IdleError) Error() string {
	if len(e.Blocked) == 0 {
		return "actors: nothing is left to do"
	}
	return fmt.Sprintf("actors: nothing is left to do, and these actors are blocked: %q", e.Blocked)
}

// refusals maps the wheel's refusals to errors.
var refusals = map[wheel.Verdict]error{
	wheel.NoActor:     ErrNoActor,
	wheel.MailboxFull: ErrMailboxFull,
	wheel.BadClass:    ErrClass,
	wheel.BadMailbox:  ErrMailbox,
	wheel.Closed:      ErrClosed,
	wheel.NoMemory:    ErrNoStack,
}

// actor is the part of an actor that the wheel does not keep: its code, its stack, its messages. fiber is nil if it has
// no stack.
type actor struct {
	id      ID
	runtime *Runtime
	class   StackClass
	handle  func(m Message) bool
	host    Host
	owns    Resources // nil: none

	mailbox queue.Queue[Message]
	fiber   *fiber
	what    string      // what the actor waits for, in words
	ready   func() bool // called in each scan while the actor waits for something outside
}
