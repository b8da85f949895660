// The assembler of jsglue's tests, for pages/assemble.js: a request in each line of the input, its answer in a line of
// the output.

import { createInterface } from "node:readline";

import { assemble } from "../../jsglue/test/assemble.mjs";

for await (const line of createInterface({ input: process.stdin })) {
  const { text, passes, names } = JSON.parse(line);
  let answer;
  try {
    answer = { binary: Buffer.from(assemble(text, passes, names)).toString("base64") };
  } catch (error) {
    answer = { error: String(error) };
  }
  console.log(JSON.stringify(answer));
}
