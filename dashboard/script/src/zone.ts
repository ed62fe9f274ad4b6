import { setCookie } from "./dom.ts";

/** The cookie with the user's time zone. */
const cookie = "pennon_zone";

/** Stores the browser's time zone in a cookie. Returns true if the server rendered this page in another zone. */
export function storeZone(): boolean {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  if (
    !/^[\w+/-]+$/.test(timeZone) ||
    document.cookie.split("; ").includes(`${cookie}=${timeZone}`)
  ) {
    return false;
  }
  setCookie(cookie, timeZone);
  return document.querySelector<HTMLElement>("[data-zone]")?.dataset.zone !== timeZone;
}
