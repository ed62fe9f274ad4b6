import { Border } from "./border.js";
import { twin } from "./twin.js";

/** A new instance, of plain JavaScript. */
export async function instantiate(): Promise<Border> {
  return new Border(twin());
}
