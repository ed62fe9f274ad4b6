/**
 * What `scripts/build.js` makes of `generated/`: the glue of wasm-bindgen as a function, so that every client has an
 * instance of its own and may take a new one after a trap, and the module, deflated and in base64. (Base64 hides
 * from a server's compression what there is to compress; so that comes first.)
 */
export declare function glue(): typeof import("../../generated/engine.js");
export declare const base64: string;
