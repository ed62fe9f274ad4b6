import type { Change } from "./hub.ts";

/** Returns true if a change may affect the page at this path. */
export function concerns({ action, flag, environment }: Change, path: string): boolean {
  const [, , section, id] = path.split("/");
  const isAboutAccounts = /^(USER|TOKEN|PASSWORD)_/.test(action);
  if (section === "people" || section === "account") {
    return isAboutAccounts;
  }
  if (section === "new-flag" || (isAboutAccounts && section !== "audit")) {
    return false;
  }
  if (section === "flags" && id !== undefined && flag !== undefined) {
    return decode(id) === flag;
  }
  if (section === "environments" && id !== undefined && environment !== undefined) {
    // A rotated key creates another environment.
    return id === environment || action === "SDK_KEY_ROTATED";
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
