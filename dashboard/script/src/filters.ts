import { announce, type FetchedPage, fetchPage, fieldsOf, on } from "./dom.ts";

/** The delay after the last keystroke before the server is queried, in milliseconds. */
const debounce = 180;

/**
 * Updates the results while the user changes the form of filters, and keeps the address shareable.
 *
 * Elements with an id and `data-live` are taken from the page to which the form leads. Without scripts, a button
 * submits the form.
 */
export function followFilters(): void {
  let latest = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function show(form: HTMLFormElement): Promise<void> {
    clearTimeout(timer);
    latest += 1;
    const request = latest;
    const url = addressOf(form);
    const page = await fetchPage(url);
    if (latest === request) {
      showResults(page, url);
    }
  }

  on("input", "#filters", (form: HTMLFormElement) => {
    clearTimeout(timer);
    timer = setTimeout(() => void show(form), debounce);
  });
  on("submit", "#filters", (form: HTMLFormElement, event) => {
    event.preventDefault();
    void show(form);
  });
  // The user may have typed before this script ran.
  const form = document.querySelector<HTMLFormElement>("#filters");
  const fields = form?.querySelectorAll<HTMLInputElement>("input[type=search]") ?? [];
  if (form && [...fields].some(({ value, defaultValue }) => value !== defaultValue)) {
    void show(form);
  }
}

/** Returns the address to which a form leads, without empty fields. */
function addressOf(form: HTMLFormElement): string {
  const filled = new URLSearchParams([...fieldsOf(form)].filter(([, value]) => value !== ""));
  const path = form.getAttribute("action") ?? "";
  return filled.size === 0 ? path : `${path}?${filled}`;
}

/** Shows the results of a page. If the page has none, such as the sign-in page, the browser navigates to it. */
function showResults(page: FetchedPage | undefined, url: string): void {
  if (page === undefined) {
    announce("Pennon cannot be reached. The list may be out of date.");
    return;
  }
  const results = page.document.getElementById("results");
  if (results === null) {
    location.href = url;
    return;
  }
  for (const old of document.querySelectorAll("[data-live]")) {
    const fresh = page.document.getElementById(old.id);
    if (fresh !== null) {
      old.replaceWith(fresh);
    }
  }
  history.replaceState(null, "", url);
  announce(results.dataset.note ?? "");
}
