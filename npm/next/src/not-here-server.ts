// Replaces @pennon/next/server in code for the browser, and fails to build there.

import { refuse } from "./internal/refuse.js";

refuse("@pennon/next/server", "@pennon/next/testing");
