// mk.h: the functions that an actor in C can call.
//
// An actor exports handle_message, which handles one message at a time. An actor that was spawned with a stack class
// may call the blocking functions anywhere in it, however deep. Meanwhile the runtime runs other actors; the locals
// stay intact. For an actor of class none, a blocking function returns -1 at once.
//
// Addresses passed to a function must lie in the guest's memory, otherwise the actor traps.

#ifndef MK_H
#define MK_H

typedef long long mk_actor; // names an actor, and is never reused; 0 is the world outside

#define MK_IMPORT(name) __attribute__((import_module("env"), import_name(#name))) name
#define MK_EXPORT(name) __attribute__((export_name(#name))) name

// Handles a message. The payload belongs to this call until it returns. Returns 1 to stay alive, 0 to end. A trap also
// ends the actor, but nothing else.
int MK_EXPORT(handle_message)(int type, mk_actor source, const void *payload, int size);

// Puts a copy of a payload into the mailbox of an actor. Returns 0, or -1 if there is no such actor or its mailbox is
// full. Never blocks.
int MK_IMPORT(mk_send)(mk_actor to, int type, const void *payload, int size);

// Returns the actor itself. Never blocks.
mk_actor MK_IMPORT(mk_self)(void);

// Writes text to the runtime's log. Never blocks.
void MK_IMPORT(mk_log)(int level, const char *text, int size);

// Blocks for at least ms milliseconds; zero or less means at least one step. Messages that come meanwhile wait. Returns
// 0.
int MK_IMPORT(mk_sleep_ms)(int ms);

// Takes the oldest message out of the mailbox, and blocks until there is one. The handler is not called for that
// message. Writes the message's type and full size, each unless its address is 0, and at most capacity bytes of the
// payload. Returns 0.
int MK_IMPORT(mk_recv)(int *type, void *buffer, int capacity, int *size);

// Blocks until a descriptor can be read, or written, for at most timeout_ms milliseconds; zero or less means no limit.
// Returns 0 if the descriptor is ready, -1 on a timeout.
int MK_IMPORT(mk_wait_fd_readable)(int fd, int timeout_ms);
int MK_IMPORT(mk_wait_fd_writable)(int fd, int timeout_ms);

#endif
