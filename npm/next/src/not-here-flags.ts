// Replaces @pennon/next/flags in code for the browser, and fails to build there. It has a file of its
// own, because test runners replace modules by their files.

import { refuse } from "./internal/refuse.js";

refuse("@pennon/next/flags", "@pennon/next/testing/flags");
