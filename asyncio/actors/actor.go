package actors

import (
	"errors"
	"fmt"
	"time"

	"github.com/fiberfill/fiberfill/internal/queue"
	"github.com/fiberfill/fiberfill/internal/wheel"
)

// ID names an actor for ever: no other actor of its runtime gets the same. The first is 1; 0 is the world outside, as
// the source of a message.
type ID int64

// Message is what an actor is sent. The payload is the receiver's own copy.
type Message struct {
	Type    int32
	Source  ID
	Payload []byte
}

// StackClass is the size of a guest's stack in bytes. Values other than the constants are refused (E-CLASS-2).
type StackClass int32

const (
	StackNone StackClass = StackClass(wheel.None) // no fiber: blocking calls return -1
	Stack32K  StackClass = StackClass(wheel.C32K)
	Stack64K  StackClass = StackClass(wheel.C64K)
	Stack128K StackClass = StackClass(wheel.C128)
)

// Guest is the code of a guest actor.
type Guest interface {
	// HandleMessage is called for one message at a time, on the actor's own stack. It returns 1 to stay alive and 0 to
	// end. A panic is a trap: it ends the actor and nothing else.
	HandleMessage(h *Host, m Message) int32
}

// Resources is what a [Guest] implements that owns something beside its code, as an instance of a wasm module does.
type Resources interface {
	// Open is called once, by [Runtime.Spawn], and allocates what an actor of the class needs, its part of the stack
	// among it. If it fails so does the spawn, and Close is not called.
	Open(class StackClass) error
	// Close is called once, when the actor is over and none of its code will run.
	Close()
}

// GuestFunc is a function as a [Guest].
type GuestFunc func(h *Host, m Message) int32

// HandleMessage calls the function.
func (f GuestFunc) HandleMessage(h *Host, m Message) int32 { return f(h, m) }

// Native is the code of a native actor, which is called on the runtime's stack and cannot block. It returns whether the
// actor stays alive. A panic ends the actor, as a guest's does.
type Native func(h *Host, m Message) bool

// Factory is all that it takes to spawn a guest, again and again if need be: the argument of whoever restarts actors.
// See [Runtime.Spawn] for the parts.
type Factory struct {
	Guest   func() Guest // called once for each actor
	Mailbox int
	Class   StackClass
}

// Info is what there is to know of an actor from outside.
type Info struct {
	Class    StackClass
	Native   bool
	Blocked  bool
	WaitsFor string        // in words; empty if it is not blocked
	Deadline time.Duration // by the runtime's clock; 0: none
	Mailbox  int           // messages that wait
}

// The reasons why an operation is refused.
var (
	ErrNoActor     = errors.New("actors: no such actor: it is over, or never was")
	ErrMailboxFull = errors.New("actors: the mailbox is full")
	ErrClass       = errors.New("actors: not a stack class: it must be 0, 32768, 65536 or 131072")
	ErrMailbox     = errors.New("actors: a mailbox must have room for one message at least")
	ErrClosed      = errors.New("actors: the runtime has been closed")
	ErrNoStack     = errors.New("actors: no memory for the actor's stack")
)

// TrapError tells that an actor's handler has panicked.
type TrapError struct {
	Actor ID
	Value any    // what was passed to panic
	Stack []byte // the handler's stack at that time, as text
}

func (e *TrapError) Error() string {
	return fmt.Sprintf("actors: the handler of actor %d trapped: %v", e.Actor, e.Value)
}

// Unwrap returns Value if it is an error.
func (e *TrapError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// IdleError tells that the actors that are alive wait for messages that nobody is left to send.
type IdleError struct {
	Blocked []string // the actors that are blocked, and what each of them waits for
}

func (e *IdleError) Error() string {
	if len(e.Blocked) == 0 {
		return "actors: nothing is left to do"
	}
	return fmt.Sprintf("actors: nothing is left to do, and these actors are blocked: %q", e.Blocked)
}

// refusals are the errors for what the wheel refuses.
var refusals = map[wheel.Verdict]error{
	wheel.NoActor:     ErrNoActor,
	wheel.MailboxFull: ErrMailboxFull,
	wheel.BadClass:    ErrClass,
	wheel.BadMailbox:  ErrMailbox,
	wheel.Closed:      ErrClosed,
	wheel.NoMemory:    ErrNoStack,
}

// actor is what the wheel does not know of one: its code, its stack, and what its messages are. If it has a stack,
// fiber is not nil.
type actor struct {
	id      ID
	runtime *Runtime
	class   StackClass
	handle  func(m Message) bool
	host    Host
	owns    Resources // nil: nothing

	mailbox queue.Queue[Message]
	fiber   *fiber
	what    string      // what it waits for, in words
	ready   func() bool // asked in each scan while it waits for something outside
}
