// Minifies a script once more, from standard input to standard output: Oxc, which comes with Vite, merges statements
// and shares code that esbuild leaves separate. esbuild has done the renaming; names of properties stay.

import { buffer } from "node:stream/consumers";
import { minifySync } from "vite";

const text = String(await buffer(process.stdin));
const { code, errors } = minifySync("script.js", text, {
  module: process.argv[2] === "module",
  compress: { target: "es2022" },
});
if (errors.length > 0) throw new Error(errors[0].message);
process.stdout.write(code);
