// What the script tag loads when it has something to tell on the console: jsglue/src/turn/tell.ts.

export * from "../../jsglue/src/turn/report.js";
