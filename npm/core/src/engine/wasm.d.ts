/**
 * What `scripts/build.js` makes of `generated/`: the module, deflated and in base64, and the names of what its numbers stand
 * for. (Base64 hides from a server's compression what there is to compress; so that comes first.)
 */
export declare const base64: string;
/** The same module where the platform has compiled it. */
export declare const module: WebAssembly.Module;
export { CommandKind, EventKind, FailureKind, RetryKind } from "../../generated/engine.js";
