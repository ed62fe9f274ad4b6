/** The cookie in which the server finds the time zone that it shows times in, and how long it lasts, in seconds. */
const cookie = "pennon_zone";
const year = 365 * 24 * 60 * 60;

/** Tells the server the time zone of this browser. Answers whether the page at hand was drawn in another one. */
export function tellZone(): boolean {
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
