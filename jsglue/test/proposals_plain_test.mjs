// The suites of guests with fibers of their own once more: every call of an export is a plain one, on stacks of our
// own.

import { callPlainly } from "./proposals_guest.mjs";

callPlainly();
await import("./proposals_test.mjs");
await import("./proposals_bad_test.mjs");
await import("./scenarios_test.mjs");
