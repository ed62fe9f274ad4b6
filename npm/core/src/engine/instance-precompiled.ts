import { importsOf, WasmExports } from "./bindings.js";
import { module } from "./wasm.js";

/**
 * Creates an instance of the engine, on platforms that compile wasm when an application is built, and forbid it at run
 * time.
 */
export async function instantiate(): Promise<WasmExports> {
  const instance = await WebAssembly.instantiate(module, importsOf(module));
  return new WasmExports(instance.exports);
}
