import { WasmExports } from "./bindings.js";
import { twin } from "./twin.js";

/** A new instance, of plain JavaScript. */
export async function instantiate(): Promise<WasmExports> {
  return new WasmExports(twin());
}
