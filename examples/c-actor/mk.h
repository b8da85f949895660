// mk.h: what an actor in C can ask of its runtime.
//
// An actor exports handle_message, which is called for one message at a time. Actors that were spawned with a stack class
// may call the blocking functions anywhere in it, however deep; the runtime goes on with others meanwhile, and the locals
// are as they were. For actors of class none a blocking function returns -1 at once.
//
// Addresses that a function gets must lie in the guest's memory, or the actor traps.

#ifndef MK_H
#define MK_H

typedef long long mk_actor; // names an actor for ever; 0 is the world outside

#define MK_IMPORT(name) __attribute__((import_module("env"), import_name(#name))) name
#define MK_EXPORT(name) __attribute__((export_name(#name))) name

// Handles a message. The payload is this call's own, until it returns. Returns 1 to stay alive, 0 to end. A trap ends the
// actor too, and nothing else.
int MK_EXPORT(handle_message)(int type, mk_actor source, const void *payload, int size);

// Puts a copy of a payload into the mailbox of an actor. Returns 0, or -1 if there is no such actor or its mailbox is
// full. Never blocks.
int MK_IMPORT(mk_send)(mk_actor to, int type, const void *payload, int size);

// Returns the actor that asks. Never blocks.
mk_actor MK_IMPORT(mk_self)(void);

// Hands text to the runtime's log. Never blocks.
void MK_IMPORT(mk_log)(int level, const char *text, int size);

// Blocks for ms milliseconds at least, with zero or less for a step. Messages that come meanwhile wait. Returns 0.
int MK_IMPORT(mk_sleep_ms)(int ms);

// Takes the oldest message out of the mailbox, and blocks until there is one; the handler is not called for it. Writes its
// type and its whole size, unless the address is 0, and at most capacity bytes of its payload. Returns 0.
int MK_IMPORT(mk_recv)(int *type, void *buffer, int capacity, int *size);

// Blocks until a descriptor can be read, or written, for timeout_ms milliseconds at most; zero or less is for ever. Returns
// 0 when it is ready, -1 when only the time is over.
int MK_IMPORT(mk_wait_fd_readable)(int fd, int timeout_ms);
int MK_IMPORT(mk_wait_fd_writable)(int fd, int timeout_ms);

#endif
