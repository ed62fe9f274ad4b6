// What @pennon/next/flags is for code that goes to the browser: nothing, so that it cannot be built. It has a file of its
// own, because test runners replace modules by their files.

import { refuse } from "./internal/refuse.js";

refuse("@pennon/next/flags", "@pennon/next/testing/flags");
