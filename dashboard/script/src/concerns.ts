import type { Change } from "./hub.ts";

/** Returns true if a change may affect the page at this path. */
export function concerns(change: Change, path: string): boolean {
  const { flag, environment, isAboutAccounts, isAboutEnvironments } = change;
  const [, , section, id] = path.split("/");
  if (section === "account" || section === "people") {
    // Roles and tokens name the environments for which they are.
    const hasRoles = section === "account" || id !== undefined;
    return isAboutAccounts || (isAboutEnvironments && hasRoles);
  }
  if (section === "new-flag" || (isAboutAccounts && section !== "audit")) {
    return false;
  }
  if (section === "flags" && id !== undefined && flag !== undefined) {
    return decode(id) === flag;
  }
  if (section === "environments" && id !== undefined && environment !== undefined) {
    // A revoked environment names the one that replaced it.
    return id === environment || isAboutEnvironments;
  }
  return true;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
