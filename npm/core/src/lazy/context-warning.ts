/**
 * Returns the warning of an attribute that rules cannot see: because of its value, or without `isCustom`, because it is
 * neither built in nor under `customAttributes`.
 */
export function contextWarning(name: string, value?: unknown, isCustom?: boolean): string {
  const attribute = `The attribute '${name}' of a context is`;
  if (isCustom === undefined) {
    return (
      `${attribute} ignored. ` +
      "Put all attributes except userId, tenantId, email and country under customAttributes."
    );
  }
  const advice = isCustom ? "Pass a string, a finite number or a boolean" : "Pass a string";
  const example = !isCustom && typeof value === "number" ? ", such as String(id)" : "";
  return `${attribute} ${described(value)}, so it counts as missing. ${advice}${example}.`;
}

/** Names the type of a value, and `NaN` or an infinity itself. */
function described(value: unknown): string {
  if (typeof value === "number" && !Number.isFinite(value)) {
    return String(value);
  }
  const type = Array.isArray(value) ? "array" : typeof value;
  return `${/^[ao]/.test(type) ? "an" : "a"} ${type}`;
}
