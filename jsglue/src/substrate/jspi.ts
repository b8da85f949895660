// JSPI: the engine's own stacks. Stacks are made seldom and kept: one is the exported function of worker.wat under
// `promising`, which waits for a runner, calls its job, and waits again. A job is a thunk of some guest (see package
// jsglue/stubs), so any stack serves any export of any instance.
//
// A stack that waits does so on a Promise, so it goes on in a microtask after that is resolved. A fresh stack costs 10
// to 25 us when many are alive, a kept one's next job about 1 us, and Chromium does not give back all that a finished
// one has used. An exception does not cost the stack, since the thunk catches it; a trap does.
// Why: RATIONALE.md, "Why are stacks kept?".

import workerBytes from "../../worker.wasm";
import { onNewStack } from "./javascriptcore.js";
import { WebAssembly } from "../platform.js";
import type { Runner, Stack } from "./substrate.js";

/** One stack, kept or not. */
class Worker implements Stack {
  runner: Runner | undefined = undefined;
  #resolve!: (value: unknown) => void;

  // One function for all waits: one made for each is thrown away by the collector, and optimised code with it. It does
  // not take the function that rejects, which the engine then need not make.
  static #leaving: Worker;
  static #keep(resolve: (value: unknown) => void): void {
    Worker.#leaving.#resolve = resolve;
  }

  leave(): Promise<any> {
    Worker.#leaving = this;
    return new Promise(Worker.#keep);
  }

  goOn(value: unknown): void {
    this.#resolve(value);
  }

  fail(error: unknown): void {
    this.#resolve(failure(error));
  }

  end(): void {
    this.#resolve(failure(deadly()));
  }
}

/** What a wait ends with that is to throw: its Promise asks this for how it ends, and is told. */
function failure(reason: unknown): PromiseLike<never> {
  return { then: (_, reject) => reject!(reason) as never };
}

interface WorkerModule {
  worker: Function;
  rethrow(): void;
  trap(): void;
  exn: WebAssembly.Global;
}

let module: WorkerModule | undefined;
let start: (worker: Worker) => Promise<unknown>;
const idle: Worker[] = [];
const promising = /* @__PURE__ */ new WeakMap<Function, (runner: Runner) => Promise<unknown>>(); // by the job; to make one takes Firefox 300 us

/** The instance of worker.wat, which holds the exception in flight. */
export function workerModule(): WorkerModule {
  if (!module) {
    const next = new WebAssembly.Suspending((worker: Worker) => {
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
    start = WebAssembly.promising(module.worker) as typeof start;
  }
  return module;
}

/** Has a runner begin on a kept stack, in a later microtask. */
export function begin(runner: Runner): void {
  const worker = idle.pop() ?? make();
  worker.runner = runner;
  runner.stack = worker;
  worker.goOn(undefined);
}

function make(): Worker {
  const worker = new Worker();
  start(worker).then(undefined, (error) => worker.runner!.trapped(error));
  return worker;
}

/** Has a runner begin on a stack that it does not share, inside this call. */
export function beginHere(runner: Runner): void {
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

/** What a thunk or a stub has caught last, by identity. */
export function caught(): unknown {
  try {
    workerModule().rethrow();
  } catch (error) {
    return error;
  }
}

// Why: RATIONALE.md, "Why is a fiber killed by a trap's own error?".
/** An error that ends the stack it is thrown on: wasm code cannot catch a trap. */
export function deadly(): unknown {
  try {
    workerModule().trap();
  } catch (error) {
    return error;
  }
}
