// What the script tag loads when it has something to tell on the console (jsglue/src/turn/tell.ts) or to draw in the
// performance panel (jsglue/src/api/trace.ts).

export * from "../../jsglue/src/turn/report.js";
export * from "../../jsglue/src/api/tracks.js";
