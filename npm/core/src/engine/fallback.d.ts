/** What `scripts/build.js` makes of the engine as wasm2js has translated it: a new instance, of plain JavaScript. */
export declare function fallback(): typeof import("../../generated/engine_bg.wasm.js");
