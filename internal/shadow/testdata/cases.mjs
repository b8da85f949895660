// The policy for shadow stacks as one table of cases. Every host plays all of its columns with real guests:
//
//   calls   the page (jsglue/test/shadow_test.mjs) and the server (guest/shadow_test.go)
//   page    what only the page can be given
//   jspi    the page's namespace for code written for JSPI: the source
//   actor   both hosts of actors (jsglue/test/shadow_test.mjs, asyncio/actors/wasm/shadow_test.go), with a class of
//           32,768 bytes
//
// Go reads the table from cases.json. `UPDATE=1 node --test jsglue/test/shadow_test.mjs` writes that file; without
// UPDATE the test fails if the two differ.
//
// A guest exports keep(mark, bytes): it takes a frame of so many bytes, fills it with the mark, waits twice, and
// returns the mark if every byte still has it. roam() waits with its pointer at 1024, where no fiber's stack is. A
// guest sleeps for as many milliseconds as its allocator has been called times, so that an actor's host can see this
// number. An actor handles a message of type 0 by roam(), and any other by keep(7, type).

const pointer = "(global $sp (mut i32) (i32.const 65536))";

// As compilers do, it first subtracts a constant from the pointer, by which fiberfill recognises the pointer.
const framed = `
  (func $keep (export "keep") (param $mark i32) (param $bytes i32) (result i32) (local $frame i32) (local $i i32)
    (local.set $bytes (i32.sub (local.get $bytes) (i32.const 16)))
    (global.set $sp (local.tee $frame (i32.sub (i32.sub (global.get $sp) (i32.const 16)) (local.get $bytes))))
    (local.set $bytes (i32.add (local.get $bytes) (i32.const 16)))
    (if (i32.and (local.get $frame) (i32.const 15)) (then (return (i32.const -3))))
    (memory.fill (local.get $frame) (local.get $mark) (local.get $bytes))
    (call $sleep (global.get $calls))
    (call $sleep (global.get $calls))
    (if (i32.ne (global.get $sp) (local.get $frame)) (then (return (i32.const -2))))
    (loop $next
      (if (i32.ne (i32.load8_u (i32.add (local.get $frame) (local.get $i))) (local.get $mark))
        (then (return (i32.const -1))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $bytes))))
    (global.set $sp (i32.add (local.get $frame) (local.get $bytes)))
    (local.get $mark))
  (func $roam (export "roam") (result i32) (local $frame i32)
    (local.set $frame (global.get $sp))
    (global.set $sp (i32.const 1024))
    (call $sleep (i32.const 0))
    (global.set $sp (local.get $frame))
    (i32.const 1))`;

const frameless = `
  (func $keep (export "keep") (param $mark i32) (param $bytes i32) (result i32)
    (call $sleep (i32.const 0))
    (local.get $mark))
  (func $roam (result i32) (i32.const 1))`;

// What allocators have in common. They hand out odd addresses.
const heap = `
  (global $next (mut i32) (i32.const 65537))
  (func $take (param $size i32) (result i32) (local $at i32)
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (local.set $at (global.get $next))
    (global.set $next (i32.add (local.get $at) (local.get $size)))
    (drop (memory.grow (i32.add (i32.shr_u (local.get $size) (i32.const 16)) (i32.const 1))))
    (local.get $at))`;

const exported = (name) => (name ? `(export "${name}")` : "");
const malloc = (name = "malloc") => `(func $malloc ${exported(name)} (param i32) (result i32)
    (call $take (local.get 0)))`;
const free = (name = "free") => `(func $free ${exported(name)} (param i32))`;
const aligned = (name) => `(func ${exported(name)} (param i32 i32) (result i32)
    (if (i32.ne (local.get 1) (i32.const 16)) (then (unreachable)))
    (call $take (local.get 0)))`;
const realloc = (name) => `(func ${exported(name)} (param i32 i32 i32 i32) (result i32)
    (if (i32.or (i32.or (local.get 0) (local.get 1)) (i32.ne (local.get 2) (i32.const 16))) (then (unreachable)))
    (call $take (local.get 3)))`;
const answers = (at) => `(func (export "malloc") (param i32) (result i32) (i32.const ${at})) ${free()}`;
const asks = '(func (export "pages") (result i32) (memory.size))';
const adds = '(func (export "more") (result i32) (i32.shl (memory.grow (i32.const 1)) (i32.const 16)))';
const passes = '(func (export "more") (result i32) (memory.grow (i32.const 1)))';
const differs = '(func (export "more") (result i32) (i32.eqz (i32.xor (memory.grow (i32.const 1)) (i32.const -1))))';
const failed = `(func (export "more") (result i32) (local $frame i32) (local $got i32) (local $kept i32) (local $no i32)
    (local.set $got (memory.grow (i32.const 1)))
    (i32.store offset=12 (local.get $frame) (local.get $got))
    (local.set $kept (i32.load offset=12 (local.get $frame)))
    (local.set $no (i32.const -1))
    (i32.eq (local.get $kept) (local.get $no)))`;
const use = (code) => `(func (export "use") ${code})`;

/** The guest of a case, as a module for calls or as an actor. */
export function text(guest, actor) {
  const memory = guest.memory ?? '(memory (export "memory") 2 2000)';
  const { imports = "", globals = pointer, frame = framed, more = "" } = guest;
  return `(module
  (import "${actor ? "env" : "fiberfill"}" "sleep_ms" (func $sleep (param i32)))
  ${imports}
  ${memory}
  ${globals}
  (global $calls (export "calls") (mut i32) (i32.const 0))
  ${frame}
  ${more}
  (func (export "handle_message") (param i32 i64 i32 i32) (result i32)
    (if (i32.eqz (local.get 0)) (then (return (call $roam))))
    (i32.eq (call $keep (i32.const 7) (local.get 0)) (i32.const 7))))`;
}

// What frames of so many bytes lead to. Three calls overlap: keep, deep and far. deep has that frame; keep has its
// region below it. The calls that are named end with an error. If the guest is spoilt, because the frame reaches into
// what is its own, no call begins afterwards. Below regions in grown memory there is room for more of them.
const ends = (size) => [
  [size - 64, []],
  [size - 48, ["deep"]],
  [size + 256, ["deep", "keep"]],
];
const regions = (source, size, ends) => ({ source, size, why: "", ends });
const allocated = (size) =>
  regions("allocator", size, [...ends(size), [2 * size + 1024, ["deep", "far", "keep"], "spoilt"]]);
const grown = (size) => regions("grow", size, ends(size));
const allocator = allocated(65536);
const grow = grown(65536);
const one = (source, why) => ({ source, size: 0, why, ends: [[60000, []]] });
const none = { source: "none", size: 0, why: "", ends: [[60000, []]] };

// Reasons, as users read them.
const byName = "that was asked for";
const unclear = "which global points to its stack is not clear";
const denied = "its code seems to use a stack, and it is said to have none";
const checks = "it checks or scans the one stack that it began with";
const takesAll = "its allocator takes all the memory that it finds";
const owners = "its memory has other owners";
const pointerOwners = "its stack pointer has other owners";
const cannotGrow = "its memory cannot grow";

// An actor whose stack has a guard below it, which is not counted; and one that has the module's own stack.
const actor = (allocated) => ({
  allocated,
  ends: [
    [32768, []],
    [32784, ["deep"]],
  ],
});
const own = { allocated: false, ends: [[60000, []]] };

const asking = heap + asks;
const twoGlobals = `(global $other (mut i32) (i32.const 0)) ${pointer}`;
const serial = { calls: one("serial", takesAll), jspi: "copy", actor: "refused" };
const allocates = { calls: allocator, jspi: "allocator", actor: actor(true) };
const grows = { calls: grow, jspi: "grow", actor: actor(false) };

export const cases = [
  // Which source: the best one that the guest can bear.
  { name: "no stack", guest: { globals: "", frame: frameless }, calls: none, jspi: "none", actor: own },
  { name: "an allocator", guest: { more: asking + malloc() + free() }, ...allocates },
  {
    name: "an allocator that leaves a hundred bytes between two regions",
    guest: {
      more: asking.replace("(local.get $size)))", "(i32.add (local.get $size) (i32.const 100))))") + malloc() + free(),
    },
    calls: {
      ...allocator,
      ends: [...ends(65536).slice(0, 2), [65536 + 256, ["deep", "far", "keep"], "spoilt"]],
    },
  },
  { name: "memory that nothing grows", guest: {}, ...grows },
  {
    name: "memory of no pages, and a stack pointer by the name of its export",
    guest: {
      memory: '(memory (export "memory") 0 2000)',
      globals: '(global $sp (export "top") (mut i32) (i32.const 65536))',
    },
    choose: { pointer: "top" },
    calls: grow,
  },
  {
    name: "a stack pointer that is exported",
    guest: { globals: '(global $sp (export "__stack_pointer") (mut i32) (i32.const 65536))' },
    ...grows,
  },
  { name: "memory that the guest keeps to itself", guest: { memory: "(memory 2 2000)" }, ...grows },
  { name: "an allocator of its own that uses what memory.grow returns", guest: { more: adds }, ...grows },
  { name: "an allocator of its own that asks for the size of memory", guest: { more: asks }, ...serial },
  {
    name: "an allocator of its own that asks for the size by growing memory by nothing",
    guest: { more: '(func (export "pages") (result i32) (memory.grow (i32.const 0)))' },
    ...serial,
  },
  {
    name: "an allocator of its own that drops what memory.grow returns",
    guest: { more: '(func (export "more") (drop (memory.grow (i32.const 1))))' },
    ...serial,
  },
  {
    name: "an allocator of its own, without optimisation, that only looks whether memory.grow has failed",
    guest: { more: failed },
    ...serial,
  },
  {
    name: "an allocator of its own that looks by other means whether memory.grow has failed",
    guest: { more: differs },
    ...serial,
  },
  {
    name: "an allocator of its own, in which a function passes on what memory.grow returns",
    guest: { more: passes },
    ...serial,
  },
  {
    name: "memory that cannot grow",
    guest: { memory: '(memory (export "memory") 2 2)' },
    ...serial,
    calls: one("serial", cannotGrow),
  },
  {
    name: "imported memory",
    guest: { memory: '(import "env" "memory" (memory 2)) (export "memory" (memory 0))' },
    page: one("serial", owners),
    jspi: "copy",
  },
  {
    name: "shared memory",
    guest: { memory: '(memory (export "memory") 2 64 shared)' },
    page: one("serial", owners),
    jspi: "copy",
  },
  {
    name: "shared memory, and an allocator",
    guest: { memory: '(memory (export "memory") 2 64 shared)', more: asking + malloc() + free() },
    page: allocator,
    jspi: "allocator",
  },
  {
    name: "shared memory, and grow by name",
    guest: { memory: '(memory (export "memory") 2 2000 shared)' },
    choose: { regions: "grow" },
    page: { ...grow, why: byName },
  },
  {
    name: "an imported stack pointer",
    guest: { imports: '(import "env" "__stack_pointer" (global $sp (mut i32)))', globals: "" },
    page: one("serial", pointerOwners),
    jspi: "copy",
  },
  {
    name: "a stack pointer that is watched",
    guest: { more: asking + malloc() + free() + '(func (export "__set_stack_limits") (param i32 i32))' },
    ...serial,
    calls: one("serial", checks),
  },
  // What collectors do; they find references on the one stack only: see Growth of package wasm.
  ...[
    ["passed on", "(call $scan (global.get $sp))"],
    ["subtracted from the end of the stack", "(call $scan (i32.sub (i32.const 65536) (global.get $sp)))"],
    ["compared", "(call $scan (i32.gt_u (i32.const 65536) (global.get $sp)))"],
    ["stored", "(i32.store (i32.const 0) (global.get $sp))"],
    ["returned by a function of the guest's own", ") (func $current (result i32) (global.get $sp)"],
  ].map(([what, code]) => ({
    name: `a stack pointer that is ${what}`,
    guest: {
      more: asking + malloc() + free() + "(func $scan (param i32))" + use(code),
    },
    ...serial,
    calls: one("serial", checks),
  })),
  {
    name: "a stack pointer that a collector looks at, and an allocator by name",
    guest: { more: asking + malloc() + free() + "(func $scan (param i32))" + use("(call $scan (global.get $sp))") },
    choose: { regions: "allocator" },
    calls: { ...allocator, why: byName },
  },
  {
    name: "shared memory, and a stack pointer that is compared",
    guest: {
      memory: '(memory (export "memory") 2 64 shared)',
      more: asking + malloc() + free() + use("(drop (i32.gt_u (i32.const 65536) (global.get $sp)))"),
    },
    page: one("serial", checks),
    jspi: "copy",
  },
  {
    name: "a stack pointer that nobody can tell",
    guest: { globals: twoGlobals },
    calls: one("serial", unclear),
    jspi: "none",
    actor: "refused",
  },
  {
    name: "a stack whose frames are multiples of 8",
    guest: {
      frame: frameless,
      more: use("(global.set $sp (i32.sub (global.get $sp) (i32.const 24)))"),
    },
    calls: one("serial", unclear),
    jspi: "none",
    actor: "refused",
  },
  {
    name: "two stacks, one of which has its name",
    guest: {
      globals:
        pointer.replace("$sp", '$sp (export "__stack_pointer")') + "(global $second (mut i32) (i32.const 32768))",
      more: use("(global.set $second (i32.sub (global.get $second) (i32.const 16)))"),
    },
    calls: one("serial", unclear),
    jspi: "none",
    actor: "refused",
  },

  // What the user chooses.
  { name: "a stack pointer by its index", guest: { globals: twoGlobals }, choose: { pointer: 1 }, calls: grow },
  {
    name: "a stack pointer by the name of its export",
    guest: { globals: twoGlobals.replace("$sp", '$sp (export "pointer")') },
    choose: { pointer: "pointer" },
    calls: grow,
  },
  {
    name: "a size",
    guest: { more: asking + malloc() + free() },
    choose: { size: 1024 },
    calls: allocated(1024),
  },
  { name: "a larger size in grown memory", guest: {}, choose: { size: 131072 }, calls: grown(131072) },
  { name: "serial by name", guest: {}, choose: { regions: "serial" }, calls: one("serial", byName), jspi: "serial" },
  { name: "copy by name", guest: {}, choose: { regions: "copy" }, calls: one("copy", byName), jspi: "copy" },
  {
    name: "grow by name, where the guest asks for the size of memory",
    guest: { more: asks },
    choose: { regions: "grow" },
    calls: { ...grow, why: byName },
  },
  { name: "an allocator by name, and there is none", guest: {}, choose: { regions: "allocator" }, calls: "refused" },
  {
    name: "grow by name, and a stack pointer that nobody can tell",
    guest: { globals: twoGlobals },
    choose: { regions: "grow" },
    calls: "refused",
  },
  { name: "a size that is none", guest: {}, choose: { size: 1000 }, calls: "refused" },
  { name: "a pointer that is none", guest: {}, choose: { pointer: 7 }, calls: "refused" },

  // What is exempt.
  {
    name: "a guest that is said to have no stack",
    guest: {},
    choose: { pointer: null },
    calls: one("serial", denied),
    jspi: "none",
  },
  {
    name: "a guest that is said to have no stack, and has none",
    guest: { globals: "", frame: frameless },
    choose: { pointer: null },
    calls: none,
    jspi: "none",
  },
  {
    name: "a pointer below its region",
    guest: {},
    calls: { ...grow, roam: "dies" },
    actor: { ...actor(false), roam: "dies" },
  },
  {
    name: "a pointer below its region, of a guest that switches stacks itself by Asyncify",
    guest: { more: '(func (export "asyncify_start_unwind") (param i32))' },
    calls: { ...grow, ends: ends(65536).slice(0, 2), roam: "lives" },
    actor: { ...actor(false), roam: "lives" },
  },

  // What is an allocator.
  { name: "malloc without free", guest: { more: asking + malloc() }, ...serial },
  { name: "malloc of another type", guest: { more: asking + aligned("malloc") + free() }, ...serial },
  {
    name: "free of another type",
    guest: { more: asking + malloc() + '(func (export "free") (param i64))' },
    ...serial,
  },
  { name: "wasm-bindgen's allocator", guest: { more: asking + aligned("__wbindgen_malloc") }, ...allocates },
  { name: "a component's allocator", guest: { more: asking + realloc("cabi_realloc") }, ...allocates },
  {
    name: "Emscripten's allocator",
    guest: { more: asking + malloc("emscripten_builtin_malloc") + free("emscripten_builtin_free") },
    ...allocates,
  },
  {
    name: "an allocator that only the name section tells",
    guest: {
      more: asking + malloc("") + free("") + use("(drop (call $malloc (i32.const 1))) (call $free (i32.const 0))"),
    },
    ...allocates,
  },
  {
    name: "half an allocator in the name section",
    guest: { more: asking + malloc("") + use("(drop (call $malloc (i32.const 1)))") },
    ...serial,
  },
  {
    name: "an allocator that the user names",
    guest: { more: asking + malloc("get") },
    choose: { allocator: "get" },
    page: allocator,
  },
  {
    name: "an allocator that the user names, of a type that is none",
    guest: { more: asking + free("get") },
    choose: { allocator: "get" },
    page: "refused",
  },
  ...[0, -1, -16, 65520, 2 ** 31].map((at) => ({
    name: `an allocator without room, which answers with ${at}`,
    guest: { memory: '(memory (export "memory") 1 1)', more: answers(at) },
    calls: "no room",
    actor: "refused",
  })),
];
