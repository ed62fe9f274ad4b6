import type { EvaluationContext } from "@pennon/core";

/** A text that is the same for contexts of the same content, so that an object made anew at each render changes nothing. */
export function identity(context: EvaluationContext<object> | null | undefined): string {
  const { userId, tenantId, email, country, customAttributes } = context ?? {};
  const custom = Object.entries(customAttributes ?? {}).sort(([one], [other]) =>
    one < other ? -1 : 1,
  );
  // What is no attribute counts as absent, whatever it is.
  return JSON.stringify([userId, tenantId, email, country, ...custom.flat()].map(attribute));
}

function attribute(value: unknown): unknown {
  return ["string", "number", "boolean"].includes(typeof value) ? value : null;
}
