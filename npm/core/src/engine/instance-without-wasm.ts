import { WasmExports } from "./bindings.js";
import { fallback } from "./fallback.js";

/** A new instance, of plain JavaScript. */
export async function instantiate(): Promise<WasmExports> {
  return new WasmExports(fallback());
}
