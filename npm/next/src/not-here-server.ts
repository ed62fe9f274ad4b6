// What @pennon/next/server is for code that goes to the browser: nothing, so that it cannot be built.

import { refuse } from "./internal/refuse.js";

refuse("@pennon/next/server", "@pennon/next/testing");
