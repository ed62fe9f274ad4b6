import { importsOf, WasmExports } from "./bindings.js";
import { module } from "./wasm.js";

/** A new instance, where the platform compiles modules while it builds an application, and not any more when that runs. */
export async function instantiate(): Promise<WasmExports> {
  const instance = await WebAssembly.instantiate(module, importsOf(module));
  return new WasmExports(instance.exports);
}
