import { Border, importsOf } from "./border.js";
import { module } from "./wasm.js";

/** A new instance, where the platform compiles modules while it builds an application, and not any more when that runs. */
export async function instantiate(): Promise<Border> {
  const instance = await WebAssembly.instantiate(module, importsOf(module));
  return new Border(instance.exports);
}
