// The operations of the four systems, each as the function that a guest imports (include/fiberfill.h). What they mean
// stands in packages polyfill/fibers1, fibers2, stacks and cont; the wire contract in jsglue/proposals/main.go.

import { ADMITS, BODY, SIZE } from "./guestside.js";
import type { MachineOf } from "./jumps.js";
import type { Suspending } from "../guest/suspending.js";

/** The machine's side of the border. References, tags and lists of types are i32, so they may be negative here. */
export interface Core {
  memory: WebAssembly.Memory;
  use(system: number): void;
  out(): number;
  tag(params: number, results: number): number;
  tags(n: number): number;
  table(n: number): number;
  active(): number;
  parent(f: number): number;
  leaf(f: number): number;
  state(f: number): number;
  kill(f: number): number;
  unwind(): void;
  explain(trap: number): number;
  text(): number;

  a_block(tag: number, params: number): number;
  a_new(results: number, start: number): number;
  a_spawn(results: number, on: number): number;
  a_suspend(f: number, tag: number, types: number, on: number): number;
  a_resume(f: number, tag: number, types: number, on: number): number;
  a_switch(f: number, to: number, tag: number, types: number, on: number): number;
  a_retire(f: number, tag: number, types: number): number;
  a_retireto(f: number, to: number, tag: number, types: number): number;
  a_release(f: number): number;
  a_return(types: number): number;
  a_throw(): number;

  b_new(returns: number, start: number): number;
  b_mount(f: number, tag: number, types: number, on: number): number;
  b_switch(f: number, to: number, tag: number, types: number, on: number): number;
  b_dismount(f: number, tag: number, types: number, on: number): number;
  b_release(f: number): number;
  b_mount_new(on: number): number;
  b_switch_new(f: number, on: number): number;
  b_dismount_release(f: number, tag: number, types: number): number;
  b_switch_release(f: number, to: number, tag: number, types: number): number;
  b_return(types: number): number;
  b_throw(): number;

  c_enter(): number;
  c_leave(): void;
  c_host(frames: number): void;
  c_new(types: number, nullable: number): number;
  c_new_ref(types: number, nullable: number, fn: boolean): number;
  c_switch(f: number, number: number, types: number, awaits: number, nullable: number, returns: boolean): number;
  c_switch_retire(f: number, number: number, types: number): number;
  c_switch_throw(f: number, number: number, awaits: number, nullable: number, returns: boolean): number;
  c_bind(f: number, number: number, types: number): number;
  c_return(types: number): number;
  c_throw(): number;

  d_new(params: number, results: number, fn: boolean): number;
  d_resume(f: number, number: number, types: number, filter: number): number;
  d_outer(from: number, tag: number): number;
  d_suspend(top: number, tag: number, types: number): number;
  d_forward(f: number, number: number, top: number, tag: number, types: number, filter: number): number;
  d_throw(f: number, number: number): number;
  d_event(tag: number, types: number): number;
  d_return(types: number): number;
  d_end(): number;
}

/** What the end of a fiber's function means: it has returned values of these types, or thrown. */
export interface Ends {
  returns(types: number): number;
  throws(): number;
}

type Imports = Record<string, Suspending | Function>;
type Operation = (...args: number[]) => number | void | Promise<number>;

/** The imports of a system: those that jump, and those that do not, each with its own name. */
function imports(
  m: MachineOf,
  plain: Record<string, (...args: any[]) => number | void>,
  jumps: Record<string, Operation>,
): Imports {
  const list: Imports = {};
  for (const name in plain) list[name] = m.plain(name, plain[name]!);
  for (const name in jumps) list[name] = m.jump(name, jumps[name]!);
  return list;
}

/** What systems with tags have for them. */
const tags = (m: MachineOf) => ({
  tag: (params: number) => m.core.tag(m.list(params), 0),
  table: (tags: number, count: number) => m.tableOf(tags, count),
});

type F = number; // a fiber
type E = number; // the address of an event
type T = number; // a table

function fibers1(m: MachineOf): Imports {
  const { core } = m;
  return imports(
    m,
    {
      ...tags(m),
      block: (tag: number, params: number) => m.check(core.a_block(tag, m.list(params))),
      new: (results: number, start: T, body: number, env: number) => {
        m.need(body, BODY);
        m.check(core.a_new(m.list(results), start));
        return m.add(m.out(0), m.out(0), body, env);
      },
      release: (f: F) => {
        const dying = m.piece(f);
        m.check(core.a_release(f));
        m.reap(dying);
      },
    },
    {
      spawn(results, body, env, e, on) {
        m.need(body!, BODY);
        m.at(e!, SIZE);
        m.check(core.a_spawn(m.list(results!), on!));
        m.add(m.out(0), m.out(0), body!, env!);
        return m.go(e!, 0, 0);
      },
      suspend: (f, e, on) => sent(m, e!, (tag, types) => core.a_suspend(f!, tag, types, on!)),
      resume: (f, e, on) => sent(m, e!, (tag, types) => core.a_resume(f!, tag, types, on!)),
      switch: (f, to, e, on) => sent(m, e!, (tag, types) => core.a_switch(f!, to!, tag, types, on!)),
      retire: (f, e) => last(m, f!, e!, (tag, types) => core.a_retire(f!, tag, types)),
      retireto: (f, to, e) => last(m, f!, e!, (tag, types) => core.a_retireto(f!, to!, tag, types)),
    },
  );
}

/** Sends the event at e. */
function sent(m: MachineOf, e: E, operation: (tag: number, types: number) => number): number | Promise<number> {
  const tag = m.tag(e);
  const types = m.types(e);
  m.check(operation(tag, types));
  return m.go(e, tag, types);
}

/** Sends the event at e, and ends f and all below it if it is taken. */
function last(m: MachineOf, f: F, e: E, operation: (tag: number, types: number) => number): number | Promise<number> {
  const tag = m.tag(e);
  const types = m.types(e);
  const dying = m.piece(f);
  m.check(operation(tag, types));
  return m.go(e, tag, types, dying);
}

function fibers2(m: MachineOf): Imports {
  const { core } = m;
  /** Enters the new fiber, of which the issuer hears when it goes on. */
  const begin = (body: number, env: number, e: E) => {
    m.issuer.fresh = m.add(m.out(0), m.out(0), body, env);
    return m.go(e, 0, 0);
  };
  return imports(
    m,
    {
      ...tags(m),
      new: (returns: number, start: T, body: number, env: number) => {
        m.need(body, BODY);
        m.check(core.b_new(returns, start));
        return m.add(m.out(0), m.out(0), body, env);
      },
      release: (f: F) => {
        const dying = m.piece(f);
        m.check(core.b_release(f));
        m.reap(dying);
      },
    },
    {
      mount: (f, e, on) => sent(m, e!, (tag, types) => core.b_mount(f!, tag, types, on!)),
      switch: (f, to, e, on) => sent(m, e!, (tag, types) => core.b_switch(f!, to!, tag, types, on!)),
      dismount: (f, e, on) => sent(m, e!, (tag, types) => core.b_dismount(f!, tag, types, on!)),
      mount_new(body, env, e, on) {
        m.need(body!, BODY);
        m.at(e!, SIZE);
        m.check(core.b_mount_new(on!));
        return begin(body!, env!, e!);
      },
      switch_new(f, body, env, e, on) {
        m.need(body!, BODY);
        m.at(e!, SIZE);
        m.check(core.b_switch_new(f!, on!));
        return begin(body!, env!, e!);
      },
      dismount_release: (f, e) => last(m, f!, e!, (tag, types) => core.b_dismount_release(f!, tag, types)),
      switch_release: (f, to, e) => last(m, f!, e!, (tag, types) => core.b_switch_release(f!, to!, tag, types)),
    },
  );
}

function stacks(m: MachineOf): Imports {
  const { core } = m;
  const made = (body: number, env: number, e: E) => {
    m.add(m.out(3), 0, body, env);
    m.refer(e);
  };
  const to =
    (returns: boolean): Operation =>
    (e, awaits, nullable) => {
      const types = m.types(e!);
      m.check(core.c_switch(m.ref(e!, 0), m.ref(e!, 1), types, m.list(awaits!), nullable!, returns));
      return m.go(e!, 0, types);
    };
  const throwTo =
    (returns: boolean): Operation =>
    (e, raise, env, awaits, nullable) => {
      m.at(e!, SIZE);
      const error = m.raised(`stacks.${returns ? "return_switch_throw" : "switch_throw"}`, raise!, env!);
      m.check(core.c_switch_throw(m.ref(e!, 0), m.ref(e!, 1), m.list(awaits!), nullable!, returns));
      return m.throwTo(e!, error);
    };
  return imports(
    m,
    {
      new: (types: number, nullable: number, body: number, env: number, e: E) => {
        m.at(e, SIZE);
        m.need(body, BODY);
        m.check(core.c_new(m.list(types), nullable));
        made(body, env, e);
      },
      new_ref: (types: number, nullable: number, body: number, env: number, e: E) => {
        m.at(e, SIZE);
        m.check(core.c_new_ref(m.list(types), nullable, m.function(body, BODY)));
        made(body, env, e);
      },
      bind: (e: E) => {
        const f = m.ref(e, 0);
        m.check(core.c_bind(f, m.ref(e, 1), m.types(e)));
        const c = m.of(f);
        c.bound = m.bound(e, c.bound);
        m.refer(e);
      },
    },
    {
      switch: to(false),
      return_switch: to(true),
      switch_throw: throwTo(false),
      return_switch_throw: throwTo(true),
      switch_retire(e) {
        const types = m.types(e!);
        const { issuer } = m;
        m.check(core.c_switch_retire(m.ref(e!, 0), m.ref(e!, 1), types));
        return m.go(e!, 0, types, [issuer]);
      },
    },
  );
}

function cont(m: MachineOf): Imports {
  const { core } = m;
  /** The continuation of which the resumer admits the event at e; 0 if there is none (D-FILT-3). */
  const outer = (operation: string, e: E, tag: number) => {
    let f = core.d_outer(0, tag);
    for (; f !== 0; f = core.d_outer(f, tag)) {
      const { admits, admitsEnv } = m.of(core.parent(f));
      if (admits === 0) break;
      m.check(core.d_event(tag, m.types(e))); // a filter relies on the values being those of the tag
      if (m.call(`the filter of a resume, asked by cont.${operation}`, admits, admitsEnv, e) !== 0) break;
    }
    return f;
  };
  /** The issuer waits with a filter that is a function, too. */
  const filter = (admits: number, env: number) => {
    m.issuer.admits = admits;
    m.issuer.admitsEnv = env;
  };
  return imports(
    m,
    {
      event: (params: number, results: number) => core.tag(m.list(params), m.list(results)),
      table: tags(m).table,
      new: (params: number, results: number, body: number, env: number, e: E) => {
        m.at(e, SIZE);
        m.check(core.d_new(m.list(params), m.list(results), m.function(body, BODY)));
        m.add(m.out(3), 0, body, env);
        m.refer(e);
      },
      br_on_evt: (e: E, tag: number) => {
        const own = m.tag(e);
        m.check(core.d_event(own, m.types(e)));
        return own === tag ? 1 : 0;
      },
    },
    {
      resume(e, on, admits, env) {
        const types = m.types(e!);
        if (admits !== 0) m.need(admits!, ADMITS);
        m.check(core.d_resume(m.ref(e!, 0), m.ref(e!, 1), types, on!));
        filter(admits!, env!);
        return m.go(e!, 0, types);
      },
      suspend(e) {
        const tag = m.tag(e!);
        const types = m.types(e!);
        m.check(core.d_suspend(outer("suspend", e!, tag), tag, types));
        return m.go(e!, tag, types);
      },
      forward(e, on, admits, env) {
        const tag = m.tag(e!);
        const types = m.types(e!);
        if (admits !== 0) m.need(admits!, ADMITS);
        m.check(core.d_forward(m.ref(e!, 0), m.ref(e!, 1), outer("forward", e!, tag), tag, types, on!));
        filter(admits!, env!);
        return m.go(e!, tag, types);
      },
      throw(e, raise, env) {
        m.at(e!, SIZE);
        const error = m.raised("cont.throw", raise!, env!);
        m.check(core.d_throw(m.ref(e!, 0), m.ref(e!, 1)));
        return m.throwTo(e!, error);
      },
    },
  );
}

/** By the number of the system, from 1. */
export const systems: { imports(m: MachineOf): Imports; ends(core: Core): Ends }[] = [
  { imports: fibers1, ends: (core) => ({ returns: core.a_return, throws: core.a_throw }) },
  { imports: fibers2, ends: (core) => ({ returns: core.b_return, throws: core.b_throw }) },
  { imports: stacks, ends: (core) => ({ returns: core.c_return, throws: core.c_throw }) },
  { imports: cont, ends: (core) => ({ returns: core.d_return, throws: core.d_end }) },
];
