// The public API. Importing this module touches no global and loads nothing.

export { compile, compileStreaming } from "../../jsglue/src/guest/module.js";
export { instantiate, instantiateStreaming, type Instantiated } from "../../jsglue/src/api/instantiate.js";
export { suspending, type ImportObject, type Suspending } from "../../jsglue/src/api/suspending.js";
export { currentFiber as current, liveFibers as fibers, limits, startLog, log } from "../../jsglue/src/turn/loop.js";
export { observe } from "../../jsglue/src/api/observe.js";
export { trace } from "../../jsglue/src/api/trace.js";
export { Fiber, type FiberState } from "../../jsglue/src/api/fiber.js";
export { all, Arena, arena, race, type ArenaOptions } from "../../jsglue/src/api/arena.js";
export { FiberError, type FiberErrorCode } from "../../jsglue/src/errors.js";
export type { Options, RegionSource } from "../../jsglue/src/api/options.js";
export type { GuestFiber } from "../../jsglue/src/proposals/load.js";
export type { CallOptions, FiberFunction } from "../../jsglue/src/api/exports.js";
