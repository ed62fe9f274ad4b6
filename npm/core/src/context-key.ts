/**
 * A text that is the same for contexts with the same attributes, in whichever order and object. Values that count as absent
 * make no difference. Undefined if the context cannot be read, because one of its getters throws.
 */
export function contextKey(context: unknown): string | undefined {
  try {
    const { userId, tenantId, email, country, customAttributes } = Object(context);
    const custom = Object.entries(customAttributes ?? {})
      .filter(([, value]) => attribute(value) !== null)
      .sort(([one], [other]) => (one < other ? -1 : 1));
    return JSON.stringify([...[userId, tenantId, email, country].map(attribute), custom]);
  } catch {
    return undefined;
  }
}

/** The value of an attribute as JSON has it; `null` where it counts as absent. */
function attribute(value: unknown): unknown {
  return ["string", "number", "boolean"].includes(typeof value) ? value : null;
}
