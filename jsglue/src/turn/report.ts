// What fiberfill reports unasked: fibers that stand still, when only a person can tell why. tell.ts loads these words.

import type { Fiber } from "../api/fiber.js";
import type { Limits } from "./limits.js";

/** A fiber whose awaited Promise has been collected as garbage, so that nobody can end the wait. */
export function leaked({ name, export: exported, waitsFor }: Fiber): string {
  return (
    `fiberfill: leaked. Fiber ${name}, in export ${exported}, waits in import ${waitsFor} ` +
    `for a Promise that nobody can settle any more; its stack is never given back. ` +
    `Settle every Promise that an import returns, or end the fiber by cancel or release; fiberfill.fibers() lists it`
  );
}

/** The hard limit is reached, all started fibers wait, and none has moved for a second. */
export function stalled(fibers: Pick<Fiber, "name" | "state" | "waitsFor">[], hard: number): string {
  const holders = new Map<string, string[]>();
  let queued = 0;
  for (const fiber of fibers) {
    if (fiber.state === "queued") queued++;
    else if (fiber.waitsFor) holders.set(fiber.waitsFor, [...(holders.get(fiber.waitsFor) ?? []), fiber.name]);
  }
  const list = [...holders].map(([what, names]) => {
    const more = names.length > 5 ? ` and ${names.length - 5} more` : "";
    return `\n  ${what}: ${names.slice(0, 5).join(", ")}${more}`;
  });
  return (
    `fiberfill: stalled. ${fibers.length - queued} fibers are started, the hard limit is ${hard}, ` +
    `and for a second none has moved, while ${queued} wait for a place. If fibers that are started wait ` +
    `for fibers that are not, they wait for ever: start fewer at once, or raise the limit by limits({ hard }). ` +
    `They wait for${list.join("")}`
  );
}

/** A call was made while the one before it waited, and still waits for its turn. */
export function behind(first: Fiber, next: Fiber): string {
  return (
    `fiberfill: stalled. Fiber ${next.name} waits until fiber ${first.name} is over, which has waited in import ` +
    `${first.waitsFor} for 10 seconds; calls of their guest run one after another. If that import waits for ` +
    `fiber ${next.name}, both wait for ever: cancel one, and call the guest before the import's first await, or not ` +
    "in the import"
  );
}

/** What a thread about a bug should begin with. */
export function summary(jspi: boolean, { soft, hard }: Limits, fibers: Fiber[]): string {
  const { process, navigator, Bun, Deno } = globalThis as any;
  const engine = Deno
    ? `Deno ${Deno.version.deno}, V8 ${Deno.version.v8}`
    : Bun
      ? `Bun ${Bun.version}`
      : process?.versions?.node
        ? `Node ${process.versions.node}, V8 ${process.versions.v8}`
        : navigator?.userAgent;
  const now = performance.now();
  const list = fibers.map((fiber) => {
    const { name, state, waitsFor, since, stacks } = fiber;
    const what = waitsFor === undefined ? state : `${state} in ${waitsFor}`;
    return `\n  ${name}: ${what} for ${Math.round(now - since)} ms; shadow stacks: ${stacks.source}`;
  });
  return (
    `fiberfill ${VERSION}\nengine: ${engine}\nstacks: ${jspi ? "the engine's (JSPI)" : "fiberfill's own"}\n` +
    `limits: soft ${soft}, hard ${hard}\nfibers: ${fibers.length}${list.slice(0, MOST).join("")}` +
    (list.length > MOST ? `\n  and ${list.length - MOST} more` : "")
  );
}

const MOST = 100; // fibers that are listed

// As in package shadow.
const DENIED = 3;
const CHECKS = 4;

/**
 * Calls of a guest cannot overlap with a stack each, and a second call has been made: says why, by the number of the
 * reason.
 */
export function together(name: string, serial: boolean, why: string, reason: number): string {
  const what = serial ? "run one after another" : "overlap on its one stack, as on raw JSPI";
  const remedies =
    reason <= DENIED
      ? "name its stack pointer by shadowStack: { pointer }"
      : reason === CHECKS // not by copying: a collector would free what only the copies refer to
        ? "build it with TinyGo's -gc=leaking, or with Emscripten's -sSTACK_OVERFLOW_CHECK below 2; " +
          'shadowStack: { regions: "allocator" } if it has neither collector nor check'
        : "have it export malloc and free; shadowStack: { allocator }; " +
          '{ regions: "grow" } if its allocator uses no memory but what memory.grow returns to it; ' +
          '{ regions: "copy" } if nobody uses pointers to the stack of a call that waits';
  return (
    `fiberfill: calls of a guest ${what}, fiber ${name} the first: stacks cannot be kept apart, as ${why}. ` +
    `What helps, the best first: ${remedies}`
  );
}

/** A guest with exceptions is to run on stacks of fiberfill's own in Bun 1.2. */
export function strays(): string {
  return (
    "fiberfill: in Bun 1.2 a guest that throws and catches exceptions between many thousands of waits may trap or " +
    "hang, because the engine's optimising compiler goes astray. Use Bun 1.4, or set BUN_JSC_useOMGJIT=0"
  );
}
