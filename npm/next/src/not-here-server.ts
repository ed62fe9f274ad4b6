// Replaces @pennon/next/server in code for the browser, so that the build fails there.

import { rejectEntry } from "./internal/reject.js";

rejectEntry("@pennon/next/server", "@pennon/next/testing");
