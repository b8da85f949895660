// The public API. Importing this module touches no global and loads nothing.

export { compile, compileStreaming } from "../../jsglue/src/guest/module.js";
export { instantiate, instantiateStreaming, type Instantiated } from "../../jsglue/src/api/instantiate.js";
export { suspending, type ImportObject, type Suspending } from "../../jsglue/src/guest/suspending.js";
export { currentFiber as current } from "../../jsglue/src/turn/turn.js";
export { fibers } from "../../jsglue/src/api/fibers.js";
export { limits, type Limits } from "../../jsglue/src/turn/limits.js";
export { log, startLog, type SchedulerEvent } from "../../jsglue/src/turn/log.js";
export { observe } from "../../jsglue/src/turn/observe.js";
export { report } from "../../jsglue/src/api/report.js";
export { trace } from "../../jsglue/src/api/trace.js";
export { Fiber } from "../../jsglue/src/api/fiber.js";
export type { FiberState } from "../../jsglue/src/turn/task.js";
export { all, Arena, arena, race, type ArenaOptions } from "../../jsglue/src/api/arena.js";
export { FiberError, type FiberErrorCode } from "../../jsglue/src/errors.js";
export type { Stacks } from "../../jsglue/src/guest/stacks.js";
export type { Options, RegionSource } from "../../jsglue/src/guest/options.js";
export type { GuestFiber } from "../../jsglue/src/proposals/load.js";
export type { CallOptions, FiberExport, FiberExports, FiberFunction } from "../../jsglue/src/api/exports.js";
