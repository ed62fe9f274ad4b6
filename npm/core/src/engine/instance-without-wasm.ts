import { WasmExports } from "./bindings.js";
import { fallback } from "./fallback.js";

/** Creates an instance of the engine in plain JavaScript. */
export async function instantiate(): Promise<WasmExports> {
  return new WasmExports(fallback());
}
