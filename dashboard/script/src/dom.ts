/** Returns the target of an event, or its closest ancestor, that matches a selector. */
export function closest<E extends Element>({ target }: Event, selector: string): E | null {
  return target instanceof Element ? target.closest<E>(selector) : null;
}

/** Handles the events of a type on all elements that match a selector, including elements added later. */
export function on<E extends HTMLElement, T extends keyof DocumentEventMap>(
  type: T,
  selector: string,
  handle: (element: E, event: DocumentEventMap[T]) => void,
): void {
  document.addEventListener(type, (event) => {
    const element = closest<E>(event, selector);
    if (element !== null) {
      handle(element, event);
    }
  });
}

/** Posts fields to an address of the dashboard that responds with JSON. */
export function post(
  url: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const body = new URLSearchParams(fields);
  return fetch(url, { method: "POST", headers: { accept: "application/json", ...headers }, body });
}

/** Returns a link with a text. */
export function link(href: string, text: string): HTMLAnchorElement {
  const anchor = document.createElement("a");
  anchor.setAttribute("href", href);
  anchor.textContent = text;
  return anchor;
}

/** Focuses an element without scrolling, or the content of the page if the element is gone. */
export function restoreFocus(element: HTMLElement | null | undefined): void {
  const main = document.querySelector("main");
  const target = element?.isConnected === true ? element : main;
  target?.focus({ preventScroll: true });
}

/** True if the focus is in a field that accepts text. */
export function isTyping(): boolean {
  const fields = "input:not([type=checkbox], [type=radio]), textarea, select";
  return document.activeElement?.matches(fields) === true;
}

/**
 * Returns the fields of a form as the browser sends them, with the value of the button that submits it. Omits files,
 * because no form of the dashboard has any.
 */
export function fieldsOf(
  form: HTMLFormElement,
  submitter: HTMLElement | null = null,
): URLSearchParams {
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form, submitter)) {
    if (typeof value === "string") {
      fields.append(name, value);
    }
  }
  return fields;
}

/** A page, and the response that contained it. */
export type FetchedPage = { readonly response: Response; readonly document: Document };

/** Fetches a page as the browser would. Returns nothing if the server cannot be reached. */
export async function fetchPage(url: string, init?: RequestInit): Promise<FetchedPage | undefined> {
  try {
    const response = await fetch(url, { headers: { accept: "text/html" }, ...init });
    const document = new DOMParser().parseFromString(await response.text(), "text/html");
    return { response, document };
  } catch {
    return undefined;
  }
}

let announcements: HTMLElement | undefined;

/** Adds the live region for announcements, because screen readers ignore a region that appears with its text. */
export function prepareAnnouncements(): void {
  announcements = document.createElement("p");
  announcements.className = "visually-hidden";
  announcements.role = "status";
  document.body.append(announcements);
}

/** Announces a text to screen readers. */
export function announce(text: string): void {
  if (announcements !== undefined) {
    announcements.textContent = text;
  }
}

/** Sets a cookie for a year. */
export function setCookie(name: string, value: string): void {
  const year = 365 * 24 * 60 * 60;
  const secure = location.protocol === "https:" ? "; Secure" : "";
  // biome-ignore lint/suspicious/noDocumentCookie: not every browser has the Cookie Store API.
  document.cookie = `${name}=${value}; Path=/; Max-Age=${year}; SameSite=Lax${secure}`;
}
