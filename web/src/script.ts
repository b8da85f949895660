// What a page gets by a script tag: the global `fiberfill`.

import * as fiberfill from "./index.js";

// By assignment, because a variable of a module (type="module", or a file that is imported) would not be global.
Object.assign(globalThis, { fiberfill });
