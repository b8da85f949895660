// The rules S of docs/rules.md: the binary format. Run over web/dist/npm.

import assert from "node:assert/strict";
import { test } from "node:test";
import { lowering, invalid, valid } from "./instructions.mjs";
import { CONT, cont, func, I32, module, NOCONT, ref, refNull } from "./instructions.mjs";

// 0: a function; 1: its continuation; 2: a function that takes what 3, its continuation, is made of; tag 0: nothing.
const types = [func(), cont(0), [0x4e, 2, ...func([refNull(3)]), ...cont(2)]];
const body = (...code) => module({ types, tags: [0], functions: [[0, ...code]] });
const NULL = [0xd0, 1];

test("S-BIN-1: cont is the composite type 0x5d and the index of a function type", () => {
  valid(module({ types: [func([I32]), [0x5d, 0]] }));
  valid(module({ types: [func([I32]), [0x5d, 0x80, 0]] })); // in more bytes than it needs
  invalid(module({ types: [func([I32]), [0x5d, 0x7f]] }), /at byte/); // -1
  invalid(module({ types: [func([I32]), [0x5c, 0]] }), /./); // the engine says so
});

test("S-BIN-2: the heap type cont is 0x68 and nocont 0x75; alone they are their nullable references", () => {
  valid(module({ types: [func([refNull(CONT), ref(CONT), refNull(NOCONT), ref(NOCONT), [0x68], [0x75]])] }));
  valid(
    module({
      types: [func([], [[0x75]]), func([[0x68]])],
      functions: [
        [0, 0xd0, 0x75],
        [1, 0x10, 0, 0x1a],
      ],
    }),
  );
});

const INSTRUCTIONS = {
  "cont.new": [0xd0, 0, 0xe0, 1, 0x1a],
  "cont.bind": [...NULL, 0xe1, 1, 1, 0x1a],
  suspend: [0xe2, 0],
  resume: [...NULL, 0xe3, 1, 0],
  resume_throw: [...NULL, 0xe4, 1, 0, 0],
  resume_throw_ref: [0xd0, 0x74, ...NULL, 0xe5, 1, 0],
  switch: [0xd0, 3, 0xe6, 3, 0, 0x1a],
};

test("S-BIN-3: cont.new, cont.bind, suspend, resume, resume_throw, resume_throw_ref, switch are 0xe0 to 0xe6", () => {
  for (const code of Object.values(INSTRUCTIONS)) valid(body(...code));
  for (const opcode of [0xe7, 0xe8, 0xdf]) invalid(body(...NULL, opcode, 1, 0, 0x1a), /unknown instruction/);
});

test("S-BIN-4: the immediates are numbers in LEB128; a body that ends inside of them is malformed", () => {
  for (const code of Object.values(INSTRUCTIONS)) {
    const last = code.at(-1) === 0x1a ? code.slice(0, -1) : code;
    assert.equal(lowering.validate(body(...last.slice(0, -1))), false);
  }
  valid(body(0xe2, 0x80, 0));
  invalid(body(0xe2, 0x80, 0x80, 0x80, 0x80, 0x10), /too long or too large/);
});

test("S-BIN-5: a clause of a resume is 0x00, tag and label, or 0x01 and tag; all else is malformed", () => {
  const clauses = (...code) =>
    module({
      types: [...types, func([], [ref(1)])],
      tags: [0],
      functions: [[0, 0x02, 4, ...NULL, 0xe3, 1, ...code, 0x00, 0x0b, 0x1a]],
    });
  valid(clauses(0));
  valid(clauses(1, 0, 0, 0));
  valid(clauses(1, 1, 0));
  valid(clauses(2, 1, 0, 0, 0, 0));
  invalid(clauses(1, 2, 0), /at byte/);
  invalid(clauses(1, 0, 0, 5), /at byte/); // no such label
  invalid(clauses(1, 0, 0, 1), /at byte/); // a label of another type
});

test("S-BIN-6: a module in which 0xe5 is still switch is recognised, and the message says what to do", () => {
  const older = body(0xd0, 3, 0xe5, 3, 0, 0x1a);
  invalid(older, /switch as 0xe5, which has become resume_throw_ref; make the module anew with a current tool/);
});

test("S-BIN-7: an invalid module is a CompileError that says at which byte, by every way of compiling", async () => {
  const bytes = body(...NULL, 0xe3, 0, 0);
  const at = bytes.lastIndexOf(0xe3);
  invalid(bytes, new RegExp(`at byte ${at}:`));
  const refused = (e) => e instanceof WebAssembly.CompileError && e.message.includes(`at byte ${at}:`);
  await assert.rejects(lowering.compile(bytes), refused);
  await assert.rejects(lowering.instantiate(bytes), refused);
  const response = new Response(bytes, { headers: { "content-type": "application/wasm" } });
  await assert.rejects(lowering.compileStreaming(response), refused);
});
