// The machine of one guest that has fibers of its own: package jsglue/proposals decides, this performs. It is loaded by
// load.ts, and takes from the rest of fiberfill what that hands over.
//
// Every fiber is a stack of its own, whoever its parent is; parents are data in the machine. So all operations that
// enter another fiber are one jump: the issuer waits on a promise, the one that runs next gets what was sent and its
// promise is resolved. What is sent goes from the sender's event to the receiver's, both in the guest's memory.
//
// To the scheduler all this is one fiber, the call of an export (the entry): it runs from the first jump to the last,
// and when one of its fibers waits for an import, it waits, and that fiber's stack is what goes on. Another entry
// begins when it is over.
//
// Ends. A fiber's function that returns, or throws, goes on in its parent. A trap ends the live chain and the entry:
// every stack is resumed with an error that wasm cannot catch. So are those that a retire ends, its issuer last; the
// issuer of an operation that traps is ended by throwing that error at it.
// Why: RATIONALE.md, "Why is a guest's own fiber not a fiber of the scheduler?".

import bytes from "../../fiber.wasm";
import coreBytes from "../../proposals/proposals.wasm";
import type { Binding } from "../guest/binding.js";
import { INDEX } from "../turn/core.js";
import { Coroutine } from "./coroutine.js";
import type { FiberError } from "../errors.js";
import type { Call } from "../guest/call.js";
import { WebAssembly } from "../platform.js";
import type { Glue, GuestFiber, Machine } from "./load.js";
import { reactor } from "../reactor.js";
import type { Suspending } from "../guest/suspending.js";
import { GuestSide, NEXT, SIZE, join, noList } from "./guestside.js";
import { systems, type Core, type Ends } from "./systems.js";

// Traps of package polyfill.
const UNKNOWN_TAG = 8;
const HOST_FRAMES = 16;

const STATES = ["over", "suspended", "active", "busy", "carried", "over"] as const; // of package polyfill

const newCore = reactor<Core>(coreBytes);
let job: WebAssembly.Module | undefined;
let stacks = 0; // of guests' own fibers, in all instances

/** Makes the machine of a guest of a system, which has this number. */
export function machine(glue: Glue, system: string, number: number): Machine {
  return new MachineOf(glue, system, number, newCore());
}

export class MachineOf extends GuestSide implements Machine {
  readonly imports: Record<string, Suspending | Function>;
  failure: FiberError | undefined = undefined;
  entry: Call | undefined = undefined;

  #begun = false; // the entry has
  #queue: Call[] = [];
  #root!: Coroutine;
  #current!: Coroutine; // whose stack runs, or is about to
  #table: (Coroutine | undefined)[] = []; // by the index of the reference
  #made = 0;

  #binding!: Binding;
  #job!: Function;
  #out: Int32Array;
  #operation = "";
  #ends: Ends;

  constructor(
    readonly glue: Glue,
    readonly system: string,
    number: number,
    readonly core: Core,
  ) {
    super();
    core.use(number);
    this.#out = new Int32Array(core.memory.buffer, core.out(), 4);
    const { imports, ends } = systems[number - 1]!;
    this.imports = imports(this);
    this.#ends = ends(core);
  }

  attach(binding: Binding, table: WebAssembly.Table): void {
    this.#binding = binding;
    job ??= new WebAssembly.Module(bytes as BufferSource);
    const sp = binding.stackPointer ?? new WebAssembly.Global({ value: "i32", mutable: true }, 0);
    const js = {
      base: binding.base,
      arg: (c: Coroutine, i: number) => {
        return i === 0 ? c.self : i === 1 ? c.env : i === 2 ? c.first : c.body;
      },
      returned: (c: Coroutine, types: number) => {
        c.results = types;
      },
      failed: (c: Coroutine) => {
        c.threw = true;
        c.thrown = this.glue.thrown(this.entry!);
      },
    };
    try {
      const { exports } = new WebAssembly.Instance(job, {
        guest: { table, sp },
        worker: { exn: this.glue.workerModule().exn },
        js,
      } as unknown as WebAssembly.Imports);
      this.found(binding, table, exports["kind"] as (i: number) => number);
      this.#job = exports["fiber"] as Function;
    } catch (error) {
      throw new this.glue.FiberError(
        "bad-guest",
        `the guest's table or stack pointer cannot be used for fibers: ${this.glue.words(error)}`,
        { cause: error },
      );
    }
  }

  // --- entries

  defers(task: Call): boolean {
    if (this.entry) this.#queue.push(task);
    else this.entry = task;
    return this.entry !== task;
  }

  start(task: Call): void {
    // In C the entry is a coroutine that others switch to; elsewhere it is below all fibers, and has no reference.
    const reference = this.system === "stacks" && this.core.c_enter() === 0 ? this.out(0) : 0;
    const root = (this.#root = this.#current = new Coroutine(this, reference, 0, 0, 0, task.name, task.job, task));
    root.started = this.#begun = true;
    if (reference !== 0) this.#table[reference & INDEX] = root;
  }

  over(task: Call): void {
    if (task !== this.entry) {
      this.#queue = this.#queue.filter((other) => other !== task);
      return;
    }
    if (this.#begun) {
      task.runner = task;
      this.core.unwind();
      if (this.system === "stacks") this.core.c_leave();
      const i = this.#root.reference & INDEX;
      if (this.#table[i] === this.#root) this.#table[i] = undefined;
    }
    this.#begun = false;
    this.failure = undefined;
    this.entry = this.#queue.shift();
    if (this.entry) this.glue.proceed(this.entry);
  }

  fibers(): GuestFiber[] {
    const { core } = this;
    return this.#table
      .filter((c): c is Coroutine => c !== undefined && c !== this.#root)
      .map((c) => ({
        name: c.name,
        get state() {
          return STATES[core.state(c.reference)]!;
        },
        get started() {
          return c.started;
        },
        release: () => {
          const dying = this.piece(c.reference);
          if (core.kill(c.reference) === 0) this.reap(dying);
        },
      }));
  }

  // --- what operations are made of (systems.ts)

  /** An operation that does not enter another fiber. It may be called at any time, also while no entry is open. */
  plain(name: string, fn: (...args: number[]) => number | void): Function {
    return (...args: number[]) => {
      this.#begin(name);
      return fn(...args);
    };
  }

  /** An operation that enters another fiber. */
  jump(name: string, fn: (...args: number[]) => number | void | Promise<number>): Suspending {
    const { glue } = this;
    const begin = () => {
      this.#begin(name);
      if (this.#running()) return;
      const text = `${this.system}.${name} enters another fiber, and no call of fiberfill's exports is open: the export was called as a plain function. Call it from fiberfill's exports`;
      throw new glue.FiberError("cannot-suspend", text);
    };
    return new glue.Jump(
      (...args) => {
        begin();
        const error = this.entry!.death ?? this.#binding.overflow(this.entry!, this.#binding.end(this.entry!));
        if (error) {
          this.#die(error as FiberError);
          throw glue.deadly();
        }
        return fn(...args);
      },
      (...args) => {
        begin();
        if (this.system !== "stacks") this.check(HOST_FRAMES);
        this.core.c_host(1); // other reasons go first (C-SWITCH-4)
        try {
          return fn(...args);
        } finally {
          if (!this.failure) this.core.c_host(-1); // it has not been refused: a function that it called has trapped
        }
      },
    );
  }

  #begin(name: string): void {
    this.#operation = name;
    if (this.inside !== "") this.refuse(`it was called inside of ${this.inside}`);
  }

  /** Whether it is code of this guest's entry that has called. */
  #running(): boolean {
    return this.#begun && this.glue.current() === this.entry;
  }

  /** A word of the core's last answer: 0 who runs now, 1 its label, 2 and 3 a single-use reference. */
  out(i: number): number {
    if (this.#out.length === 0) this.#out = new Int32Array(this.core.memory.buffer, this.core.out(), 4);
    return this.#out[i]!;
  }

  /** Does nothing if the core has not refused the operation. */
  check(trap: number): void {
    if (trap === 0) return;
    this.refuse(this.#explain(trap));
  }

  #explain(trap: number): string {
    const { core } = this;
    const length = core.explain(trap);
    return new TextDecoder().decode(new Uint8Array(core.memory.buffer, core.text(), length));
  }

  /** Ends the chain that runs by a trap. */
  refuse(why: string): never {
    const error = this.glue.deadly() as Error;
    if (this.entry && this.#running()) this.#die(this.#refusal(why));
    else error.message = this.#refused(why);
    throw error;
  }

  #refused(why: string): string {
    return `${this.system}.${this.#operation} refused: ${why}`;
  }

  #refusal(why: string): FiberError {
    const task = this.entry!;
    return new this.glue.FiberError(
      "trap",
      `fiber ${task.name} trapped in export ${task.exportName}: ${this.#refused(why)}`,
      { fiber: task.name },
    );
  }

  /** Puts the single-use reference that the core has made into an event. */
  refer(e: number): void {
    this.setRef(e, this.out(3), this.out(2));
  }

  /** A list of tags in memory, as a table. */
  tableOf(tags: number, count: number): number {
    const { core } = this;
    const list = this.bytesAt(tags, 4 * (count >>> 0));
    const to = core.tags(count);
    new Uint8Array(core.memory.buffer, to, list.length).set(list);
    const table = core.table(count);
    if (table === -1) this.check(UNKNOWN_TAG);
    return table;
  }

  /** The computation that issues the operation. */
  get issuer(): Coroutine {
    return this.#current;
  }

  /** The computation of a reference of the machine; 0 is the root. */
  of(reference: number): Coroutine {
    return reference === 0 ? this.#root : this.#table[reference & INDEX]!;
  }

  /** Makes the stackless beginning of a fiber. self is what its function is told. */
  add(reference: number, self: number, body: number, env: number): number {
    this.#table[reference & INDEX] = new Coroutine(
      this,
      reference,
      self,
      body,
      env,
      `${this.system} ${++this.#made}`,
      this.#job,
    );
    return reference;
  }

  /** All that end when a fiber does: those that it carries, or those below it in the live chain, and itself last. */
  piece(f: number): Coroutine[] {
    const { core } = this;
    const list: Coroutine[] = [];
    let x = core.leaf(f);
    if (x === 0) {
      if (!["active", "busy"].includes(STATES[core.state(f)]!)) return list;
      x = core.active();
    }
    for (; x !== f; x = core.parent(x)) list.push(this.of(x));
    list.push(this.of(f));
    return list;
  }

  /** Ends the stacks of fibers that the machine has ended. */
  reap(list: Coroutine[]): void {
    for (const c of list) {
      c.dead = true;
      this.#drop(c);
      // The issuer's is ended by what its operation ends with.
      if (c.started && !c.over && c !== this.#current) c.runner.stack!.end();
    }
  }

  // --- the jump

  /**
   * Performs what the core has answered with, for an operation that waits with the event at e and sends its values.
   * dying are the fibers that the operation has ended; if the issuer is one of them this does not return.
   */
  go(e: number, tag: number, types: number, dying?: Coroutine[]): number | Promise<number> {
    const issuer = this.#current;
    const target = this.of(this.out(0));
    const label = this.out(1);
    if (target === issuer) {
      if (label === NEXT) {
        this.setHead(e, NEXT, 0, 0); // the event was not taken, and nothing has happened
        return label;
      }
      this.#deliver(target, e, e, label, tag, types);
      return label;
    }
    this.#prepare(target, dying);
    const at = this.#deliver(target, target.event, e, label, tag, types);
    if (dying) this.reap(dying);
    const parked = this.#park(issuer, e);
    this.#enter(target, at);
    if (issuer.dead) issuer.runner.stack!.end(); // behind those that end with it
    return parked;
  }

  /** The same with an exception in the place of values. */
  throwTo(e: number, error: unknown): Promise<number> {
    const target = this.of(this.out(0));
    if (target.started) this.#prepare(target);
    const parked = this.#park(this.#current, e);
    this.#switch(target);
    this.#raise(target, error);
    return parked;
  }

  #park(c: Coroutine, e: number): Promise<number> {
    c.event = e;
    return c.runner.stack!.leave() as Promise<number>;
  }

  /**
   * The fiber that runs now is another one: its region is the one whose bounds are watched, its stack the one that
   * waits are on.
   */
  #switch(c: Coroutine): void {
    this.#current = c;
    this.entry!.runner = c.runner;
  }

  /** Makes sure that a computation can be entered: it has a stack in memory, and nobody has written over it. */
  #prepare(c: Coroutine, dying: Coroutine[] = []): void {
    if (c.started && !c.lost) return;
    const { glue } = this;
    const task = this.entry!;
    let error: unknown = c.lost;
    if (!error && stacks >= glue.stackLimit()) {
      error = new glue.FiberError(
        "no-memory",
        `fiber ${task.name} cannot start one more fiber of its own: ${stacks} have stacks, and the limit is ${glue.stackLimit()}. Chromium ends a tab that has some 20,000; up to there limits({ hard }) raises it`,
        { fiber: task.name },
      );
    }
    if (!error) {
      this.inside = "the guest's malloc for a fiber's stack"; // what the core has answered is not yet done
      try {
        c.region = this.#binding.regions!.take();
        c.region.tenant = c;
      } catch (full) {
        error = full;
      } finally {
        this.inside = "";
      }
    }
    if (error) {
      this.reap(dying);
      this.#die(error as FiberError);
      throw glue.deadly();
    }
    c.first = c.event = (c.region!.high - SIZE) & ~15;
    this.clear(c.first);
  }

  /** Writes what was sent with the event at `from` into the event at `to`, with which c waits. Returns the label. */
  #deliver(c: Coroutine, to: number, from: number, label: number, tag: number, types: number): number {
    // Of an instruction that makes a fiber the first tag is an immediate, and not one of its handlers (B-MNEW-2).
    if (c.fresh && label === 0) {
      label = NEXT;
      tag = 0;
    }
    this.copyValues(to, from, types, c.bound?.bytes);
    this.setHead(to, label, tag, join(c.bound, types));
    this.refer(to);
    if (c.fresh) this.setFiber(to, c.fresh);
    c.fresh = 0;
    c.bound = undefined;
    return label;
  }

  #enter(c: Coroutine, label: number): void {
    if (c.started) {
      this.#switch(c);
      c.runner.stack!.goOn(label);
      return;
    }
    c.started = true;
    stacks++;
    this.glue.begin(c);
    this.#switch(c);
  }

  /** An exception arrives in a computation; one that has never run it leaves at once (C-THROW-2, D-THROW-4). */
  #raise(c: Coroutine, error: unknown): void {
    if (!c.started) {
      c.threw = true;
      c.thrown = error;
      return this.#end(c);
    }
    if (this.system === "stacks") this.refer(c.event); // to the thrower (C-THROW-3)
    c.fresh = 0;
    c.bound = undefined;
    this.entry!.outcome = error; // the stub must not take a SuspendError that is the user's for the engine's
    c.runner.stack!.fail(error);
  }

  // --- ends

  /** The function of a fiber has returned or thrown. */
  returned(c: Coroutine): void {
    stacks--;
    c.over = true;
    if (c.dead) return;
    const error = this.#binding.overflow(this.entry!);
    if (error) this.#die(error);
    else this.#end(c);
  }

  /** A trap has ended a stack: by itself, or because we have. */
  trapped(c: Coroutine, error: unknown): void {
    stacks--;
    c.over = true;
    this.#binding.rest();
    if (c.dead) return;
    const task = this.entry!;
    this.#die((task.death ?? this.#binding.overflow(task) ?? this.glue.trapError(task, error)) as FiberError);
  }

  /** What the end of the current fiber's function means. */
  #end(c: Coroutine): void {
    c.over = true;
    if (c.started) this.#operation = c.threw ? "throw" : "return"; // else it is the operation that has thrown into it
    const why = this.#endRefused(c);
    if (why) {
      this.#die(this.#refusal(why));
      this.reap([c]);
      return;
    }
    const target = this.of(this.out(0));
    if (c.threw) {
      this.#switch(target);
      this.#raise(target, c.thrown);
    } else {
      const label = this.out(1);
      const tag = this.out(3); // in B the return event; the others say 0
      this.#out[3] = 0; // there is no reference
      this.#enter(target, this.#deliver(target, target.event, c.first, label, tag, c.results));
    }
    this.#drop(c);
  }

  /** Ends the current fiber in the core; returns why it cannot end so. */
  #endRefused(c: Coroutine): string | undefined {
    const wrong = c.threw ? undefined : noList(c.results);
    if (wrong) return wrong;
    const trap = c.threw ? this.#ends.throws() : this.#ends.returns(c.results);
    return trap === 0 ? undefined : this.#explain(trap);
  }

  /** Takes back what a fiber has that is over. */
  #drop(c: Coroutine): void {
    if (this.#table[c.reference & INDEX] === c) this.#table[c.reference & INDEX] = undefined;
    if (c.region) this.#binding.regions!.give(c.region);
    c.region = undefined;
  }

  /** A trap: ends the live chain and the entry (K-9). The issuer is ended by what is thrown at it afterwards. */
  #die(error: FiberError): void {
    if (this.failure) return;
    const { core } = this;
    const root = this.#root;
    const current = this.#current;
    this.failure = this.entry!.death = error;
    const chain: Coroutine[] = [];
    for (let f = core.active(); f !== 0; f = core.parent(f)) chain.push(this.of(f));
    core.unwind();
    this.reap(chain.filter((c) => c !== root));
    if (current !== root && !current.dead && !current.over) {
      // The operation had taken it out of the chain before it turned out that the other side cannot be entered.
      let top = current.reference;
      while (STATES[core.state(top)] === "carried") top = core.parent(top);
      const dying = this.piece(top);
      core.kill(top);
      this.reap(dying);
    }
    if (current !== root) root.runner.stack!.end();
  }
}
