// fiberfill/actors: actors whose code may block, in wasm or in JavaScript. Importing this module touches no global and
// loads nothing.

export { compileActor, type ActorModule, type Import } from "../../jsglue/src/actors/guest.js";
export { Runtime, type Info, type RuntimeOptions, type SpawnOptions } from "../../jsglue/src/actors/runtime.js";
export { realClock, VirtualClock, type Clock } from "../../jsglue/src/actors/clock.js";
export type { Host, Message, Result } from "../../jsglue/src/actors/host.js";
export type { Native } from "../../jsglue/src/actors/actor.js";
export { ActorError, type ActorErrorCode } from "../../jsglue/src/actors/errors.js";
