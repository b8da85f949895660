// What guests import from "env". A bad address is found before anything is changed [K-2]. Results are written when the
// actor goes on.

import type { Instance } from "./guest.js";

interface Import {
  blocks: boolean;
  call: (guest: Instance, ...args: any[]) => unknown;
}

export const imports: Record<string, Import> = Object.assign(Object.create(null), {
  mk_send: {
    blocks: false,
    call: (guest, to: bigint, type: number, payload: number, size: number) =>
      guest.actor.host.send(Number(to), type, guest.piece("mk_send", payload, size)),
  },
  mk_self: { blocks: false, call: (guest) => BigInt(guest.actor.id) },
  mk_log: {
    blocks: false,
    call: (guest, level: number, text: number, size: number) =>
      guest.actor.host.log(level, new TextDecoder().decode(guest.piece("mk_log", text, size))),
  },
  mk_sleep_ms: { blocks: true, call: (guest, ms: number) => guest.actor.host.sleepMs(ms) },
  mk_recv: { blocks: true, call: receive },
  mk_wait_fd_readable: {
    blocks: true,
    call: (guest, fd: number, timeoutMs: number) => guest.actor.host.waitFdReadable(fd, timeoutMs),
  },
  mk_wait_fd_writable: {
    blocks: true,
    call: (guest, fd: number, timeoutMs: number) => guest.actor.host.waitFdWritable(fd, timeoutMs),
  },
} satisfies Record<string, Import>);

function receive(guest: Instance, type: number, buffer: number, capacity: number, size: number): -1 | 0 | Promise<0> {
  const name = "mk_recv";
  guest.piece(name, buffer, capacity);
  for (const at of [type, size]) if (at !== 0) guest.piece(name, at, 4);
  const message = guest.actor.host.recv();
  if (message === -1) return -1;
  const write = (message: { type: number; payload: Uint8Array }): 0 => {
    if (capacity !== 0) guest.bytes().set(message.payload.subarray(0, capacity >>> 0), buffer >>> 0);
    if (type !== 0) guest.view().setInt32(type >>> 0, message.type, true);
    if (size !== 0) guest.view().setInt32(size >>> 0, message.payload.length, true);
    return 0;
  };
  return message instanceof Promise ? message.then(write) : write(message);
}
