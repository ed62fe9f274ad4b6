/**
 * Returns a new instance of the engine in plain JavaScript, which wasm2js has translated and `scripts/build.js` has
 * bundled.
 */
export declare function fallback(): typeof import("../../generated/engine_bg.wasm.js");
