/**
 * The maximum nesting of contexts that are being read. In deeper ones, all attributes are missing. Otherwise a context
 * whose getters evaluate flags for that context would take forever, or exhaust the stack and trap the wasm.
 */
const MAX_NESTING = 2;

/** The number of contexts that are being read: more than one if a getter of a context reads another one. */
let nesting = 0;

/** Begins to read a context, and returns it, or undefined if it is nested too deeply. Call `endReading` afterwards. */
export function beginReading<C>(context: C): C | undefined {
  nesting += 1;
  return nesting > MAX_NESTING ? undefined : context;
}

export function endReading(): void {
  nesting -= 1;
}
