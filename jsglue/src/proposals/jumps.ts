// The machine of one guest that has fibers of its own: package jsglue/proposals decides, this performs. load.ts
// loads it and hands it what it needs of the rest of fiberfill.
//
// Every fiber has a stack of its own, and parents are only data in the machine. So all operations that enter another
// fiber are one jump: the issuer waits on a promise, the next fiber gets what was sent, and the next fiber's promise is
// resolved. What is sent goes from the sender's event to the receiver's, both in the guest's memory.
//
// To the scheduler all this is one fiber, the call of an export (the entry): it runs from the first jump to the last.
// When one of the guest's fibers waits for an import, the entry waits, and later that fiber's stack goes on. Another
// entry begins when this one is over. On stacks of our own an operation of a plain call is an entry of its own
// (plain.ts).
//
// Ends. When a fiber's function returns or throws, its parent goes on. A trap ends the live chain and the entry: every
// stack is resumed with an error that wasm cannot catch. The stacks that a retire ends are resumed with it, too, the
// issuer's last. The issuer of an operation that traps is ended by throwing that error at it.
// Why: RATIONALE.md, "Why is a guest's own fiber not a fiber of the scheduler?".

import coreBytes from "../../proposals/proposals.wasm";
import type { Binding } from "../guest/binding.js";
import { INDEX } from "../turn/core.js";
import { functionsOf, linkBody } from "./body.js";
import { Coroutine } from "./coroutine.js";
import { Elsewhere, type Depths } from "./elsewhere.js";
import type { FiberError } from "../errors.js";
import type { Call } from "../guest/call.js";
import type { Glue, GuestFiber, Machine } from "./load.js";
import { goBelow, Plain, trapOf } from "./plain.js";
import { EXCEPTION, Plan, QUESTION } from "./plan.js";
import { reactor } from "../reactor.js";
import type { Suspending } from "../guest/suspending.js";
import type { Jumping } from "../substrate/substrate.js";
import { GuestSide, SIZE } from "./guestside.js";
import { systems, type Core, type Operation } from "./systems.js";

const STATES = ["over", "suspended", "active", "busy", "carried", "over"] as const; // of package polyfill

const newCore = reactor<Core>(coreBytes);
let stacks = 0; // of guests' own fibers, in all instances

/** Makes the machine of a guest of the system with this number. */
export function machine(glue: Glue, [system, other]: readonly string[], number: number): Machine {
  if (other !== undefined) {
    throw new glue.FiberError(
      "bad-guest",
      `the module imports from fiberfill/${system} and from fiberfill/${other}: each is a machine of its own, and no ` +
        "stack can belong to two; a guest uses one of them",
    );
  }
  return new MachineOf(glue, system!, number, newCore());
}

export class MachineOf extends GuestSide implements Machine {
  readonly imports: Record<string, Suspending | Function>;
  failure: FiberError | undefined = undefined;

  #begun = false; // whether the entry has begun
  #chain = 0; // a number for each entry
  #plainCalls: Plain | undefined;
  #plain: Plain | undefined; // the entry, if it is an operation of a plain call
  #standing: Coroutine | undefined; // the root of all plain calls, while the core has it
  #root!: Coroutine;
  #current!: Coroutine; // whose stack runs, or is about to
  #table: (Coroutine | undefined)[] = []; // by the index of the reference
  #made = 0;

  #binding!: Binding;
  #job!: Function;
  readonly #plan: Plan;
  #operation = "";

  constructor(
    readonly glue: Glue,
    readonly system: string,
    number: number,
    readonly core: Core,
  ) {
    super();
    core.use(number);
    this.#plan = new Plan(core);
    this.imports = systems[number - 1]!(this);
  }

  attach(
    binding: Binding,
    guest: { exports: WebAssembly.Exports },
    exports: readonly WebAssembly.ModuleExportDescriptor[],
  ): void {
    const table = functionsOf(this.glue, guest, exports);
    this.#binding = binding;
    const { fiber, kind } = linkBody(this.glue, binding, table, () => this.glue.thrown(this.entry!));
    this.found(binding, table, kind);
    this.#job = fiber;
  }

  // --- entries

  /** The call that is under way. */
  get entry(): Call | Plain | undefined {
    return this.#plain ?? this.#binding?.turns!.entry; // none while the guest's start function runs
  }

  start(task: Call): void {
    if (this.#standing) this.#leave(this.#standing);
    this.#begin(this.#rootOf(task, task.name));
  }

  over(task: Call): void {
    if (this.#begun) {
      task.runner = task;
      this.#leave(this.#root);
    }
    this.#begun = false;
    this.failure = undefined;
  }

  #rootOf(runner: Call["runner"], name: string): Coroutine {
    // In C the entry is a coroutine that others switch to; elsewhere it is below all fibers, and has no reference.
    const reference = this.core.enter();
    const root = new Coroutine(this, reference, 0, 0, 0, name, runner.job, runner);
    root.started = true;
    if (reference !== 0) this.#table[reference & INDEX] = root;
    return root;
  }

  #begin(root: Coroutine): void {
    this.#root = this.#current = root;
    this.#chain++;
    this.#begun = true;
  }

  #leave(root: Coroutine): void {
    this.core.leave();
    const i = root.reference & INDEX;
    if (this.#table[i] === root) this.#table[i] = undefined;
    this.#standing = undefined;
  }

  /** Issues an operation in a plain call, and returns when its root goes on. */
  #plainly(fn: Operation, args: number[]): number | void {
    const { inside } = this.#binding?.substrate ?? {};
    if (this.#begun || !inside) {
      const why = this.#begun
        ? `fiber ${this.entry!.name}, which has done so, is not over`
        : "no call of fiberfill's exports is open: the export was called as a plain function";
      throw new this.glue.FiberError(
        "cannot-suspend",
        `${this.system}.${this.#operation} enters another fiber, and ${why}. Call it from fiberfill's exports`,
      );
    }
    // The core has the root from one operation to the next: each root in C takes a number that nobody gets again.
    const plain = (this.#plainCalls ??= new Plain(this.#binding));
    plain.begin();
    const root = (this.#standing ??= this.#rootOf(plain.runner, plain.exportName));
    this.#plain = plain;
    this.#begin(root);
    root.elsewhere = undefined;
    try {
      const label = inside(fn, args) as number | undefined;
      if (!this.failure) return label ?? plain.take();
    } catch (error) {
      if (!this.failure) throw error;
    } finally {
      plain.back();
      if (this.failure) this.#leave(root);
      this.#begun = false;
      this.#plain = this.failure = undefined;
    }
    // Nobody has put the pointer back for the frames that the trap ends; in a microtask there are none.
    plain.below();
    void Promise.resolve().then(() => this.#binding.rest());
    throw trapOf(this.glue, plain.death);
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
          if (core.end(c.reference) === 0) this.reap();
        },
      }));
  }

  // --- what operations are made of (systems.ts)

  /** An operation that does not enter another fiber. It may be called at any time, also while no entry is open. */
  plain(name: string, fn: (...args: number[]) => number | void): Function {
    return (...args: number[]) => {
      this.#binding?.substrate.needRoom?.(); // for what follows a change of the core
      this.#called(name);
      return fn(...args);
    };
  }

  /** An operation that enters another fiber. */
  jump(name: string, fn: Operation): Suspending {
    const leaves: Jumping = (...args) => {
      this.#called(name);
      if (!this.#running()) return this.#plainly(fn, args);
      const error = this.entry!.death ?? this.#binding.overflow(this.entry!, this.#binding.end(this.entry!));
      if (error) {
        this.#die(error as FiberError);
        throw this.glue.deadly();
      }
      return fn(...args);
    };
    const stays: Operation = (...args) => {
      this.#called(name);
      if (!this.#running()) return this.#plainly(fn, args);
      goBelow(this.#binding);
      this.check(this.core.host(1)); // in stacks other reasons go first (C-SWITCH-4)
      try {
        return fn(...args);
      } finally {
        if (!this.failure) this.core.host(-1); // not refused: a function that it called has trapped
      }
    };
    leaves.direct = stays;
    return new this.glue.Jump(leaves, stays);
  }

  protected below(): void {
    this.#plain?.below();
  }

  #called(name: string): void {
    this.#operation = name;
    if (this.inside !== "") this.refuse(`it was called inside of ${this.inside}`);
  }

  /** Whether the caller is code of this guest's entry, on the stack of the computation that the entry is at. */
  #running(): boolean {
    if (!this.#begun || !(this.#plain || this.glue.current() === this.entry)) return false;
    return this.#binding.substrate.runs?.(this.#current.runner.stack) ?? true;
  }

  /** Refuses the operation if the core has refused it. */
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
    const { exportName, name } = this.entry!;
    const where = this.#plain ? "" : `fiber ${name} trapped in export ${exportName}: `;
    return new this.glue.FiberError("trap", where + this.#refused(why), { fiber: name });
  }

  /** What the last operation has made. */
  get made(): number {
    return this.#plan.made;
  }

  /** Puts the single-use reference that an operation has made into an event. Returns the reference's fiber. */
  refer(e: number): number {
    const fiber = this.#plan.token(0);
    this.setRef(e, fiber, this.#plan.token(1));
    return fiber;
  }

  /** A list of tags in memory, as a table. */
  tableOf(tags: number, count: number): number {
    const { core } = this;
    const list = this.bytesAt(tags, 4 * (count >>> 0));
    const to = core.tags(count);
    new Uint8Array(core.memory.buffer, to, list.length).set(list);
    this.check(core.table(count));
    return this.made;
  }

  /** The computation that issues the operation. */
  get issuer(): Coroutine {
    return this.#current;
  }

  /** The computation of a reference of the machine; 0 is the root. */
  of(reference: number): Coroutine {
    return reference === 0 ? this.#root : this.#table[reference & INDEX]!;
  }

  /** Makes a fiber without a stack, which begins later. `self` is what its function is given. */
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

  /** Ends the stacks of the fibers that the plan has ended. */
  reap(): void {
    for (const reference of this.#plan.takeEnds()) {
      const c = this.of(reference);
      if (c === this.#root) continue; // it is the entry
      c.dead = true;
      this.#drop(c);
      if (c.started && !c.over) c.runner.stack!.end(); // does nothing to the issuer's stack, which does not wait yet
    }
  }

  // --- the jump

  /** The same as {@link go} for an operation that makes a fiber and enters it. */
  begin(trap: number, body: number, env: number, e: number): number | Promise<number> {
    if (trap === 0) {
      const self = this.#plan.to;
      this.add(self, self, body, env);
    }
    return this.go(trap, e);
  }

  /**
   * Carries out the plan of an operation, unless the operation was refused. The operation waits with the event at `e`,
   * which holds the values that it sends; `error` is what it throws. If the plan ends the issuer, this does not return.
   */
  go(trap: number, e: number, error?: unknown): number | Promise<number> {
    const issuer = this.#current;
    const { stack } = issuer.runner;
    issuer.event = e;
    if (trap !== 0) {
      if (STATES[this.core.state(issuer.reference)] !== "suspended") this.check(trap);
      const parked = stack!.leave() as Promise<number>; // the fiber that it has entered has trapped (C-THROW-2)
      this.#die(this.#refusal(this.#explain(trap)));
      if (issuer === this.#root) stack!.end();
      return parked;
    }
    const target = this.of(this.#plan.to);
    const throws = this.#plan.delivers === EXCEPTION;
    if (target === issuer && !throws) return this.#deliver(target, e);
    const depths = this.#binding.depths();
    if (depths) (issuer.elsewhere ??= new Elsewhere()).leaves(this.#chain, depths);
    const unfit = this.#prepare(target, depths);
    const label = unfit || throws ? 0 : this.#deliver(target, e);
    this.reap();
    const parked = stack!.leave() as Promise<number>;
    if (unfit) this.#die(unfit, true);
    else if (throws) this.#raise(target, error, depths);
    else this.#enter(target, label, depths);
    if (issuer.dead || unfit) stack!.end(); // after the stacks that end with it
    return parked;
  }

  /** Calls the filters that the plan asks for, until the plan can be carried out. Returns the trap. */
  ask(trap: number, e: number): number {
    while (trap === 0 && this.#plan.delivers === QUESTION) {
      const { admits, admitsEnv } = this.of(this.#plan.to);
      const what = `the filter of a resume, asked by ${this.system}.${this.#operation}`;
      trap = this.core.cont_answer(this.call(what, admits, admitsEnv, e));
    }
    return trap;
  }

  /**
   * Another fiber runs now: the bounds of its region are watched, and waits are on its stack.
   */
  #switch(c: Coroutine, depths: Depths | undefined): void {
    this.#current = c;
    this.entry!.runner = c.runner;
    if (depths) (c.elsewhere ??= new Elsewhere()).goesOn(depths);
  }

  /** Why a fiber that has frames on other instances' stacks cannot go on; undefined if it can. */
  #moved({ name, elsewhere }: Coroutine, depths: Depths | undefined): FiberError | undefined {
    if (!depths || !elsewhere || elsewhere.fits(this.#chain, depths)) return undefined;
    return this.#refusal(
      `${name} has frames on the shadow stack of another instance, and they are no longer the lowest there. Such ` +
        "fibers go on in the reverse order of their leaving",
    );
  }

  /**
   * Takes a region for a computation that has never run. Returns why the computation cannot be entered; undefined if it
   * can.
   */
  #prepare(c: Coroutine, depths: Depths | undefined): FiberError | undefined {
    if (c.started || c.lost) return c.lost ?? this.#moved(c, depths);
    const { glue } = this;
    const task = this.entry!;
    if (stacks >= glue.stackLimit()) {
      return new glue.FiberError(
        "no-memory",
        `fiber ${task.name} cannot start one more fiber of its own: ${stacks} have stacks, and the limit is ` +
          `${glue.stackLimit()}. Raise it with limits({ hard }); Chromium ends a tab with about 20,000 stacks`,
        { fiber: task.name },
      );
    }
    this.inside = "the guest's malloc for a fiber's stack"; // the plan is not yet carried out
    this.below();
    try {
      c.region = this.#binding.regions!.take();
      c.region.tenant = c;
    } catch (full) {
      return full as FiberError;
    } finally {
      this.inside = "";
    }
    c.first = c.event = (c.region.high - SIZE) & ~15;
    this.clear(c.first);
    return undefined;
  }

  /** Writes what was sent with the event at `from` into the one with which c waits. Returns the label. */
  #deliver(c: Coroutine, from: number): number {
    this.copyValues(c.event, from, this.#plan.types, c.bound);
    c.bound = undefined;
    this.setHead(c.event, this.#plan.words, this.#plan.event);
    return this.#plan.label;
  }

  #enter(c: Coroutine, label: number, depths: Depths | undefined): void {
    if (c.started) {
      this.#switch(c, depths);
      c.runner.stack!.goOn(label);
      return;
    }
    c.started = true;
    stacks++;
    this.#binding.substrate.begin(c);
    this.#switch(c, depths);
  }

  #raise(c: Coroutine, error: unknown, depths: Depths | undefined): void {
    this.#switch(c, depths);
    if (this.#plan.token(0) !== 0) this.refer(c.event); // to the thrower (C-THROW-3)
    c.bound = undefined;
    (this.entry as Call).outcome = error; // so that the stub does not take the user's SuspendError for the engine's
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

  /** A trap has ended a stack: the guest's own trap, or one of ours. */
  trapped(c: Coroutine, error: unknown): void {
    stacks--;
    c.over = true;
    if (c.dead) return;
    const { entry } = this;
    const end = this.#binding.reach();
    if (!this.#plain) this.#binding.rest(); // otherwise frames of the plain call are on other stacks
    const death = entry!.death ?? this.#binding.overflow(entry!, end) ?? this.glue.trapError(entry!, error);
    this.#die(death as FiberError);
  }

  /** Carries out what follows the end of the current fiber's function. */
  #end(c: Coroutine): void {
    this.#operation = c.threw ? "throw" : "return";
    const trap = c.threw ? this.core.threw() : this.core.returned(c.results);
    if (trap !== 0) {
      this.#die(this.#refusal(this.#explain(trap)));
    } else {
      const target = this.of(this.#plan.to);
      let depths = this.#binding.depths();
      if (depths && c.threw) {
        c.elsewhere?.threw(this.#chain, depths);
        depths = this.#binding.depths();
      }
      const moved = this.#moved(target, depths);
      if (moved) this.#die(moved);
      else if (c.threw) this.#raise(target, c.thrown, depths);
      else this.#enter(target, this.#deliver(target, c.first), depths);
    }
    this.#drop(c);
  }

  /** Takes back what a fiber had that is over. */
  #drop(c: Coroutine): void {
    if (this.#table[c.reference & INDEX] === c) this.#table[c.reference & INDEX] = undefined;
    if (c.region) this.#binding.regions!.give(c.region);
    c.region = undefined;
  }

  /**
   * A trap: ends the live chain and the entry (K-9). The caller of this function ends the issuer afterwards. If the
   * plan is abandoned, the operation itself traps.
   */
  #die(error: FiberError, abandoned = false): void {
    if (this.failure) return;
    const root = this.#root;
    this.failure = this.entry!.death = error;
    if (abandoned) this.core.abandon();
    else this.core.unwind();
    this.reap();
    if (this.#current !== root) root.runner.stack!.end();
  }
}
