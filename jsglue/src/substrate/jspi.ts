// JSPI: the engine's own stacks. Stacks are made seldom and kept. Each is a call of worker.wat's exported function
// under `promising`, which waits for a runner, calls its job, and waits again. A job is a thunk of some guest (see
// package jsglue/stubs), so any stack serves any export of any instance.
//
// A stack waits on a Promise, so it goes on in a microtask after that Promise is resolved. A fresh stack costs 10 to 25
// us when many are alive; the next job of a kept one costs about 1 us. Chromium does not give back all that a finished
// stack has used. An exception does not cost the stack, since the thunk catches it; a trap does.
// Why: RATIONALE.md, "Why are stacks kept?".

import workerBytes from "../../worker.wasm";
import { onNewStack, suspendingImport } from "./javascriptcore.js";
import { WebAssembly } from "../platform.js";
import type { Runner, Stack, Substrate } from "./substrate.js";

// One function for all waits: the collector throws away one made per wait, and the code optimised for it. It takes no
// `reject`, so the engine need not make one.
let leaving: Worker;
function keep(resolve: (value: unknown) => void): void {
  leaving.resolve = resolve;
}

/** One stack, kept or used once. */
class Worker implements Stack {
  runner: Runner | undefined = undefined;
  resolve!: (value: unknown) => void;

  leave(): Promise<any> {
    leaving = this;
    return new Promise(keep);
  }

  goOn(value: unknown): void {
    this.resolve(value);
  }

  fail(error: unknown): void {
    this.resolve(failure(error));
  }

  end(): void {
    this.resolve(failure(deadly()));
  }
}

/** Returns what makes a wait throw: a thenable that rejects the Promise that adopts it. */
function failure(reason: unknown): PromiseLike<never> {
  return { then: (_, reject) => reject!(reason) as never };
}

interface WorkerModule {
  worker: Function;
  rethrow(): void;
  trap(): void;
  exn: WebAssembly.Global;
  shared: WebAssembly.Global;
}

let module: WorkerModule | undefined;
let start: ((worker: Worker) => Promise<unknown>) | undefined;
const idle: Worker[] = [];
// Keyed by job: making one takes Firefox 300 us.
const promising = /* @__PURE__ */ new WeakMap<Function, (runner: Runner) => Promise<unknown>>();

/** The instance of worker.wat, which holds the exception in flight. */
export function workerModule(): WorkerModule {
  if (!module) {
    const next = suspends((worker: Worker) => {
      const { runner } = worker;
      const asked = worker.leave();
      if (runner) {
        worker.runner = undefined;
        idle.push(worker);
        runner.returned();
      }
      return asked;
    });
    const js = { next, job: ({ runner }: Worker) => runner!.job, runner: ({ runner }: Worker) => runner };
    const compiled = new WebAssembly.Module(workerBytes as BufferSource);
    module = new WebAssembly.Instance(compiled, { js } as unknown as WebAssembly.Imports)
      .exports as unknown as WorkerModule;
  }
  return module;
}

// Without JSPI no worker is ever made: the module is there for its exception in flight.
const suspends = (fn: (worker: Worker) => unknown) =>
  "Suspending" in WebAssembly ? new WebAssembly.Suspending(fn) : fn;

/** Begins a runner on a kept stack, in a later microtask. */
function begin(runner: Runner): void {
  const worker = idle.pop() ?? make();
  worker.runner = runner;
  runner.stack = worker;
  worker.goOn(undefined);
}

function make(): Worker {
  const worker = new Worker();
  start ??= WebAssembly.promising(workerModule().worker) as NonNullable<typeof start>;
  start(worker).then(undefined, (error) => worker.runner!.trapped(error));
  return worker;
}

/** Begins a runner on a stack of its own, inside this call. */
function beginHere(runner: Runner): void {
  runner.stack = new Worker();
  const { job } = runner;
  let begin = promising.get(job);
  if (!begin) promising.set(job, (begin = WebAssembly.promising(job) as (runner: Runner) => Promise<unknown>));
  const run = begin;
  onNewStack(() => run(runner)).then(
    () => runner.returned(),
    (error) => runner.trapped(error),
  );
}

function instance(bytes: Uint8Array, imports: Record<string, unknown>): WebAssembly.Instance {
  return new WebAssembly.Instance(new WebAssembly.Module(bytes as BufferSource), imports as WebAssembly.Imports);
}

export const jspi: Substrate = {
  begin,
  ...(SCRIPT_TAG ? undefined! : { beginHere }), // the script tag has no promising
  waits: suspendingImport,
  instance,
  // A small module is made at once: that takes some tenths of a millisecond, as does the way to another thread and
  // back.
  guest: async (module, { small }, imports) =>
    small ? new WebAssembly.Instance(module, imports) : WebAssembly.instantiate(module, imports),
};

/** Returns what a thunk or a stub caught last, by identity. */
export function caught(): unknown {
  try {
    workerModule().rethrow();
  } catch (error) {
    return error;
  }
}

// Why: RATIONALE.md, "Why is a fiber killed by a trap's own error?".
/** Returns an error that ends the stack it is thrown on: wasm code cannot catch a trap. */
export function deadly(): unknown {
  try {
    workerModule().trap();
  } catch (error) {
    return error;
  }
}
