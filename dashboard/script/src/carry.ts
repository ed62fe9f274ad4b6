import { on } from "./dom.ts";

/** What of an address says for whom a flag is tried. */
const parameters = ["context", "as"];

/** Has the case that is being tried go along to the same page in another state: it was typed after that was drawn. */
export function carryCase(): void {
  on("click", "a[href]", (link: HTMLAnchorElement) => {
    link.href = carried(link.href);
  });
  on("submit", "form[method=post]", (form: HTMLFormElement) => {
    form.action = carried(form.action);
  });
}

function carried(address: string): string {
  const [next, here] = [new URL(address), new URL(location.href)];
  // An environment is what these states have in common.
  if (next.pathname !== here.pathname || !next.searchParams.has("environment")) {
    return address;
  }
  for (const name of parameters) {
    const value = here.searchParams.get(name);
    if (value === null) {
      next.searchParams.delete(name);
    } else {
      next.searchParams.set(name, value);
    }
  }
  return next.href;
}
