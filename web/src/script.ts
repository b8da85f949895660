// What a page gets by a script tag: the global `fiberfill`.

import * as fiberfill from "./index.js";

// An assignment, and no variable of the script: that of a module (type="module", or an import of the file) is no
// global.
Object.assign(globalThis, { fiberfill });
