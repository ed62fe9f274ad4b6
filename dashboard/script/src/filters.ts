import { announce, type FetchedPage, fetchPage, fieldsOf, on } from "./dom.ts";

/** The time to wait for the next letter before the service is asked, in milliseconds. */
const debounce = 180;

/**
 * Shows what a form of filters asks for while one types and chooses, and keeps the address to share.
 *
 * The elements with an id and `data-live` are taken over from the page that the form leads to. Without scripts the form is
 * sent by its button.
 */
export function followFilters(): void {
  let latest = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function show(form: HTMLFormElement): Promise<void> {
    clearTimeout(timer);
    latest += 1;
    const asked = latest;
    const url = addressOf(form);
    const page = await fetchPage(url);
    if (latest === asked) {
      takeOver(page, url);
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
  // Somebody may have typed before this script ran.
  const form = document.querySelector<HTMLFormElement>("#filters");
  const fields = form?.querySelectorAll<HTMLInputElement>("input[type=search]") ?? [];
  if (form && [...fields].some(({ value, defaultValue }) => value !== defaultValue)) {
    void show(form);
  }
}

/** The address that a form leads to, without the fields that are empty. */
function addressOf(form: HTMLFormElement): string {
  const filled = new URLSearchParams([...fieldsOf(form)].filter(([, value]) => value !== ""));
  const path = form.getAttribute("action") ?? "";
  return filled.size === 0 ? path : `${path}?${filled}`;
}

/** Shows what a page has found. A page without results is another page, such as the sign-in: the browser is taken there. */
function takeOver(page: FetchedPage | undefined, url: string): void {
  if (page === undefined) {
    announce("The service cannot be reached. The list may be out of date.");
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
