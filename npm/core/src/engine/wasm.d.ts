/**
 * The wasm module in `generated/`, deflated and in base64. (It is deflated first, because a server's compression works
 * poorly on base64.)
 */
export declare const base64: string;
/** The same module, compiled by the platform. */
export declare const module: WebAssembly.Module;
