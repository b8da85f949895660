// Run before fiberfill is imported (node --import), this hides JSPI: fibers are on stacks of fiberfill's own, as in
// engines that have none. Tests that compare with raw JSPI find it under the symbol.

const { Suspending, SuspendError, promising } = WebAssembly;
globalThis[Symbol.for("fiberfill.test.jspi")] = { Suspending, SuspendError, promising };
for (const name of ["Suspending", "SuspendError", "promising"]) delete WebAssembly[name];
