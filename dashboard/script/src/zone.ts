/** The cookie with the user's time zone, and its lifetime in seconds. */
const cookie = "pennon_zone";
const year = 365 * 24 * 60 * 60;

/** Stores the browser's time zone in a cookie. Returns true if the server rendered this page in another zone. */
export function storeZone(): boolean {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  if (
    !/^[\w+/-]+$/.test(timeZone) ||
    document.cookie.split("; ").includes(`${cookie}=${timeZone}`)
  ) {
    return false;
  }
  const secure = location.protocol === "https:" ? "; Secure" : "";
  // biome-ignore lint/suspicious/noDocumentCookie: not every browser has the Cookie Store API.
  document.cookie = `${cookie}=${timeZone}; Path=/; Max-Age=${year}; SameSite=Lax${secure}`;
  return document.querySelector<HTMLElement>("[data-zone]")?.dataset.zone !== timeZone;
}
