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
  const advice = adviceFor(name, isCustom);
  const isId = advice === "Pass a string" && typeof value === "number";
  const example = isId ? ", such as String(id)" : "";
  return `${attribute} ${described(value)}, so it counts as missing. ${advice}${example}.`;
}

function adviceFor(name: string, isCustom: boolean): string {
  if (isCustom) {
    return "Pass a string, a finite number or a boolean";
  }
  return name === "customAttributes" ? "Pass a plain object" : "Pass a string";
}

/** Names the type of a value, and `NaN` or an infinity itself. */
function described(value: unknown): string {
  if (typeof value === "number" && !Number.isFinite(value)) {
    return String(value);
  }
  const type = Array.isArray(value) ? "array" : value instanceof Map ? "Map" : typeof value;
  return `${/^[ao]/.test(type) ? "an" : "a"} ${type}`;
}
