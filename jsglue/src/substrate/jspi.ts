// Stacks are made seldom and kept. A worker is one JSPI stack: the exported function of worker.wat under `promising`,
// which waits for a job, calls it, and waits again. A job is a thunk of some guest (see package jsglue/stubs), so any
// worker serves any export of any instance.
//
// A fresh stack costs 10 to 25 us when many are alive, a worker's next job about 1 us, and Chromium does not give back
// all that a finished stack has used. An exception does not cost the worker, since the thunk catches it; a trap does.

import workerBytes from "../../worker.wasm";
import { FiberError, isA, words } from "../errors.js";
import type { Task } from "../api/fiber.js";
import { onNewStack } from "./javascriptcore.js";
import { current, left } from "../turn/loop.js";
import { WebAssembly } from "../platform.js";

/** A guest's own fiber, as far as its stack is concerned; beside it there are calls of exports. */
export interface OwnFiber {
  worker: Worker | undefined;
  readonly thunk: { readonly job: Function };
  /** Its job is done, and the stack is somebody else's from now on. */
  returned(): void;
  /** A trap has ended its stack. */
  trapped(error: unknown): void;
}

/** One kept stack. */
export class Worker {
  task: Task | OwnFiber | undefined;
  take!: () => void;
}

interface WorkerModule {
  worker: Function;
  rethrow(): void;
  trap(): void;
  exn: WebAssembly.Global;
}

let module: WorkerModule | undefined;
let start: () => Promise<unknown>;
const idle: Worker[] = [];
const promising = /* @__PURE__ */ new WeakMap<Function, () => Promise<unknown>>(); // by the job; to make one takes Firefox 300 us
const lone = /* @__PURE__ */ new Worker(); // stands for the stack of a fiber that has its own
let starting: Worker | undefined; // the one whose first call of next is under way

let given: Function | undefined; // to the worker that goes on next: between the two nobody else is given one
let asking: Worker;
function keep(take: () => void): void {
  asking.take = take;
}

/** The instance of worker.wat, which holds the exception in flight. */
export function workerModule(): WorkerModule {
  if (!module) {
    const next = new WebAssembly.Suspending(() => {
      const worker = starting ?? current!.worker!;
      const task = worker.task;
      asking = worker;
      const job = new Promise<void>(keep);
      if (task) {
        worker.task = undefined;
        idle.push(worker);
        returned(task);
      }
      return job;
    });
    const compiled = new WebAssembly.Module(workerBytes as BufferSource);
    const job = () => {
      const job = given;
      given = undefined;
      return job;
    };
    module = new WebAssembly.Instance(compiled, { js: { next, job } } as unknown as WebAssembly.Imports)
      .exports as unknown as WorkerModule;
    start = WebAssembly.promising(module.worker) as () => Promise<unknown>;
  }
  return module;
}

// Firefox alone has this class, and throws it where a stack overflows.
const InternalError = (globalThis as { InternalError?: new () => Error }).InternalError;

/** Lets a fiber that has never run begin, on a worker. */
export function give(task: Task | OwnFiber): void {
  const worker = idle.pop() ?? make();
  worker.task = task;
  task.worker = worker;
  given = task.thunk.job;
  worker.take();
}

function make(): Worker {
  const worker = (starting = new Worker());
  start().then(undefined, (error) => trapped(worker.task!, error));
  starting = undefined;
  return worker;
}

/** A trap has ended a fiber, and the stack that it ran on. */
function trapped(task: Task | OwnFiber, error: unknown): void {
  if ("trapped" in task) return task.trapped(error);
  if (!task.over) task.binding.rest(task);
  left(task, true, task.death ?? task.binding.overflow(task) ?? trapError(task, error), true);
}

/** The thunk of a fiber has returned. */
function returned(task: Task | OwnFiber): void {
  if ("returned" in task) return task.returned();
  // A fiber that was lost as it ran, in a call of another that began inside its own, returns what it read from there.
  const overflow = (task.binding.sound(task) ? undefined : task.binding.overflow(task)) ?? task.lost;
  if (overflow) left(task, true, overflow, false);
  else left(task, task.threw, task.result, false);
}

/** Runs a fiber on a stack that it does not share: it begins inside this call. */
export function ownStack(task: Task | OwnFiber): void {
  task.worker = lone;
  const { job } = task.thunk;
  let begin = promising.get(job);
  if (!begin) promising.set(job, (begin = WebAssembly.promising(job) as () => Promise<unknown>));
  onNewStack(begin).then(
    () => returned(task),
    (error) => trapped(task, error),
  );
}

/** What a fiber whose stack has ended so rejects with. */
export function trapError(task: Task, error: unknown): unknown {
  if (task.thunk.jspi) return error;
  const { name, exportName } = task;
  // By its name: the trap of a function that another window has instantiated is of that window's class.
  if ((error as Error).name === "RuntimeError") {
    return new FiberError("trap", `fiber ${name} trapped in export ${exportName}: ${words(error)}`, {
      fiber: name,
      cause: error,
    });
  }
  return new FiberError(
    "stack-overflow",
    `fiber ${name} recursed too deeply in export ${exportName}: ${words(error)}`,
    { fiber: name, cause: error },
  );
}

/**
 * What the thunk of a fiber has let out: what was thrown, unless that is Firefox's word for a stack overflow, which
 * wasm can catch.
 */
export function thrown(task: Task): unknown {
  const error = caught();
  return InternalError && isA(error, InternalError) ? trapError(task, error) : error;
}

/** What a thunk or a stub has caught last, by identity. */
export function caught(): unknown {
  try {
    workerModule().rethrow();
  } catch (error) {
    return error;
  }
}

/** An error that ends the stack it is thrown on: wasm code cannot catch a trap. */
export function deadly(): unknown {
  try {
    workerModule().trap();
  } catch (error) {
    return error;
  }
}
