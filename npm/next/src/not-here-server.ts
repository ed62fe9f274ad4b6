// Replaces @pennon/next/server in code for the browser, so that the build fails there.

import { refuse } from "./internal/refuse.js";

refuse("@pennon/next/server", "@pennon/next/testing");
