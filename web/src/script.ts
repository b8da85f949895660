// What a page gets by a script tag: the global `fiberfill` (cmd/build names it).

import { ready } from "../../jsglue/src/loop.js";
import { hasJSPI } from "../../jsglue/src/module.js";

export * from "./index.js";

// A page that loads this by a tag is going to use it: the core compiles while the guest is on its way.
if (hasJSPI()) ready().catch(() => {}); // told by instantiate
