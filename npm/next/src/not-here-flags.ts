// Replaces @pennon/next/flags in code for the browser, so that the build fails there. It is a separate file, because
// test runners mock modules by file.

import { rejectEntry } from "./internal/reject.js";

rejectEntry("@pennon/next/flags", "@pennon/next/testing/flags");
