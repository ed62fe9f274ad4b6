/** The wasm module in `generated/`, deflated and in base64. (Base64 hides from a server's compression what there is to compress.) */
export declare const base64: string;
/** The same module where the platform has compiled it. */
export declare const module: WebAssembly.Module;
