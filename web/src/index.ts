// The public API. Importing this module touches no global and loads nothing.

export { compile, compileStreaming } from "../../jsglue/src/module.js";
export { instantiate, instantiateStreaming, type Instantiated } from "../../jsglue/src/instantiate.js";
export { suspending, type ImportObject, type Suspending } from "../../jsglue/src/suspending.js";
export { currentFiber as current, liveFibers as fibers, limits, startLog, log } from "../../jsglue/src/loop.js";
export { observe } from "../../jsglue/src/observe.js";
export { trace } from "../../jsglue/src/trace.js";
export { Fiber, type FiberState } from "../../jsglue/src/fiber.js";
export { all, Arena, arena, race, type ArenaOptions } from "../../jsglue/src/arena.js";
export { FiberError, type FiberErrorCode } from "../../jsglue/src/errors.js";
export type { Options, RegionSource } from "../../jsglue/src/options.js";
export type { GuestFiber } from "../../jsglue/src/proposals.js";
export type { CallOptions, FiberFunction } from "../../jsglue/src/exports.js";
