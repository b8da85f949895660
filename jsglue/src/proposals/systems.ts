// The operations of the four systems, each as the function that a guest imports (include/fiberfill.h). Packages
// polyfill/fibers1, fibers2, stacks and cont define what they mean; the wire contract is in jsglue/proposals/main.go.

import { ADMITS, BODY, SIZE } from "./guestside.js";
import type { MachineOf } from "./jumps.js";
import type { Suspending } from "../guest/suspending.js";

/** The machine's side of the border. References, tags and lists of types are i32, so they may be negative here. */
export interface Core {
  memory: WebAssembly.Memory;
  use(system: number): void;
  plan(): number;
  tag(params: number, results: number): number;
  tags(n: number): number;
  table(n: number): number;
  enter(): number;
  leave(): void;
  host(frames: number): number;
  returned(types: number): number;
  threw(): number;
  unwind(): void;
  abandon(): void;
  end(f: number): number;
  state(f: number): number;
  explain(trap: number): number;
  text(): number;

  fibers1_block(tag: number, params: number): number;
  fibers1_new(results: number, start: number): number;
  fibers1_spawn(results: number, on: number): number;
  fibers1_suspend(f: number, tag: number, types: number, on: number): number;
  fibers1_resume(f: number, tag: number, types: number, on: number): number;
  fibers1_switch(f: number, to: number, tag: number, types: number, on: number): number;
  fibers1_retire(f: number, tag: number, types: number): number;
  fibers1_retireto(f: number, to: number, tag: number, types: number): number;
  fibers1_release(f: number): number;

  fibers2_new(returns: number, start: number): number;
  fibers2_mount(f: number, tag: number, types: number, on: number): number;
  fibers2_switch(f: number, to: number, tag: number, types: number, on: number): number;
  fibers2_dismount(f: number, tag: number, types: number, on: number): number;
  fibers2_release(f: number): number;
  fibers2_mount_new(on: number): number;
  fibers2_switch_new(f: number, on: number): number;
  fibers2_dismount_release(f: number, tag: number, types: number): number;
  fibers2_switch_release(f: number, to: number, tag: number, types: number): number;

  stacks_new(types: number, nullable: number): number;
  stacks_new_ref(types: number, nullable: number, fn: boolean): number;
  stacks_switch(f: number, number: number, types: number, awaits: number, nullable: number, returns: boolean): number;
  stacks_switch_retire(f: number, number: number, types: number): number;
  stacks_switch_throw(f: number, number: number, awaits: number, nullable: number, returns: boolean): number;
  stacks_bind(f: number, number: number, types: number): number;

  cont_new(params: number, results: number, fn: boolean): number;
  cont_resume(f: number, number: number, types: number, filter: number, asks: boolean): number;
  cont_suspend(tag: number, types: number): number;
  cont_forward(f: number, number: number, tag: number, types: number, filter: number, asks: boolean): number;
  cont_answer(admits: number): number;
  cont_throw(f: number, number: number): number;
  cont_br_on_evt(tag: number, types: number, of: number): number;
}

type Imports = Record<string, Suspending | Function>;
export type Operation = (...args: number[]) => number | void | Promise<number>;

/** The imports of a system, by name: operations that jump, and operations that do not. */
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

/** The operations on tags, in systems that have tags. */
const tags = (m: MachineOf) => ({
  tag: (params: number) => tag(m, params, 0),
  table: (tags: number, count: number) => m.tableOf(tags, count),
});

function tag(m: MachineOf, params: number, results: number): number {
  m.check(m.core.tag(params, results));
  return m.made;
}

type F = number; // a fiber
type E = number; // the address of an event
type T = number; // a table

function fibers1(m: MachineOf): Imports {
  const { core } = m;
  return imports(
    m,
    {
      ...tags(m),
      block: (tag: number, params: number) => m.check(core.fibers1_block(tag, params)),
      new: (results: number, start: T, body: number, env: number) => {
        m.need(body, BODY);
        m.check(core.fibers1_new(results, start));
        return m.add(m.made, m.made, body, env);
      },
      release: (f: F) => {
        m.check(core.fibers1_release(f));
        m.reap();
      },
    },
    {
      spawn(results, body, env, e, on) {
        m.at(e!, SIZE);
        m.need(body!, BODY);
        return m.begin(core.fibers1_spawn(results!, on!), body!, env!, e!);
      },
      suspend: (f, e, on) => m.go(core.fibers1_suspend(f!, m.tag(e!), m.types(e!), on!), e!),
      resume: (f, e, on) => m.go(core.fibers1_resume(f!, m.tag(e!), m.types(e!), on!), e!),
      switch: (f, to, e, on) => m.go(core.fibers1_switch(f!, to!, m.tag(e!), m.types(e!), on!), e!),
      retire: (f, e) => m.go(core.fibers1_retire(f!, m.tag(e!), m.types(e!)), e!),
      retireto: (f, to, e) => m.go(core.fibers1_retireto(f!, to!, m.tag(e!), m.types(e!)), e!),
    },
  );
}

function fibers2(m: MachineOf): Imports {
  const { core } = m;
  return imports(
    m,
    {
      ...tags(m),
      new: (returns: number, start: T, body: number, env: number) => {
        m.need(body, BODY);
        m.check(core.fibers2_new(returns, start));
        return m.add(m.made, m.made, body, env);
      },
      release: (f: F) => {
        m.check(core.fibers2_release(f));
        m.reap();
      },
    },
    {
      mount: (f, e, on) => m.go(core.fibers2_mount(f!, m.tag(e!), m.types(e!), on!), e!),
      switch: (f, to, e, on) => m.go(core.fibers2_switch(f!, to!, m.tag(e!), m.types(e!), on!), e!),
      dismount: (f, e, on) => m.go(core.fibers2_dismount(f!, m.tag(e!), m.types(e!), on!), e!),
      mount_new(body, env, e, on) {
        m.at(e!, SIZE);
        m.need(body!, BODY);
        return m.begin(core.fibers2_mount_new(on!), body!, env!, e!);
      },
      switch_new(f, body, env, e, on) {
        m.at(e!, SIZE);
        m.need(body!, BODY);
        return m.begin(core.fibers2_switch_new(f!, on!), body!, env!, e!);
      },
      dismount_release: (f, e) => m.go(core.fibers2_dismount_release(f!, m.tag(e!), m.types(e!)), e!),
      switch_release: (f, to, e) => m.go(core.fibers2_switch_release(f!, to!, m.tag(e!), m.types(e!)), e!),
    },
  );
}

function stacks(m: MachineOf): Imports {
  const { core } = m;
  const to =
    (returns: boolean): Operation =>
    (e, awaits, nullable) =>
      m.go(core.stacks_switch(m.ref(e!, 0), m.ref(e!, 1), m.types(e!), awaits!, nullable!, returns), e!);
  const throwTo =
    (returns: boolean): Operation =>
    (e, raise, env, awaits, nullable) => {
      m.at(e!, SIZE);
      const error = m.raised(`stacks.${returns ? "return_switch_throw" : "switch_throw"}`, raise!, env!);
      return m.go(core.stacks_switch_throw(m.ref(e!, 0), m.ref(e!, 1), awaits!, nullable!, returns), e!, error);
    };
  return imports(
    m,
    {
      new: (types: number, nullable: number, body: number, env: number, e: E) => {
        m.at(e, SIZE);
        m.need(body, BODY);
        m.check(core.stacks_new(types, nullable));
        m.add(m.refer(e), 0, body, env);
      },
      new_ref: (types: number, nullable: number, body: number, env: number, e: E) => {
        m.at(e, SIZE);
        m.check(core.stacks_new_ref(types, nullable, m.function(body, BODY)));
        m.add(m.refer(e), 0, body, env);
      },
      bind: (e: E) => {
        m.check(core.stacks_bind(m.ref(e, 0), m.ref(e, 1), m.types(e)));
        const c = m.of(m.refer(e));
        c.bound = m.bound(e, c.bound);
      },
    },
    {
      switch: to(false),
      return_switch: to(true),
      switch_throw: throwTo(false),
      return_switch_throw: throwTo(true),
      switch_retire: (e) => m.go(core.stacks_switch_retire(m.ref(e!, 0), m.ref(e!, 1), m.types(e!)), e!),
    },
  );
}

function cont(m: MachineOf): Imports {
  const { core } = m;
  /** Notes the filter of the issuer, which is about to wait, if that filter is a function. Returns whether it is. */
  const asks = (admits: number, env: number): boolean => {
    if (admits === 0) return false;
    m.need(admits, ADMITS);
    m.issuer.admits = admits;
    m.issuer.admitsEnv = env;
    return true;
  };
  return imports(
    m,
    {
      event: (params: number, results: number) => tag(m, params, results),
      table: tags(m).table,
      new: (params: number, results: number, body: number, env: number, e: E) => {
        m.at(e, SIZE);
        m.check(core.cont_new(params, results, m.function(body, BODY)));
        m.add(m.refer(e), 0, body, env);
      },
      br_on_evt: (e: E, tag: number) => {
        m.check(core.cont_br_on_evt(m.tag(e), m.types(e), tag));
        return m.made;
      },
    },
    {
      resume(e, on, admits, env) {
        m.at(e!, SIZE);
        return m.go(core.cont_resume(m.ref(e!, 0), m.ref(e!, 1), m.types(e!), on!, asks(admits!, env!)), e!);
      },
      suspend: (e) => m.go(m.ask(core.cont_suspend(m.tag(e!), m.types(e!)), e!), e!),
      forward(e, on, admits, env) {
        m.at(e!, SIZE);
        const chooses = asks(admits!, env!);
        return m.go(m.ask(core.cont_forward(m.ref(e!, 0), m.ref(e!, 1), m.tag(e!), m.types(e!), on!, chooses), e!), e!);
      },
      throw(e, raise, env) {
        m.at(e!, SIZE);
        const error = m.raised("cont.throw", raise!, env!);
        return m.go(core.cont_throw(m.ref(e!, 0), m.ref(e!, 1)), e!, error);
      },
    },
  );
}

/** By the number of the system, from 1. */
export const systems: ((m: MachineOf) => Imports)[] = [fibers1, fibers2, stacks, cont];
