import { on } from "./dom.ts";

/** The parameters that hold the evaluation context of the playground. */
const parameters = ["context", "as"];

/**
 * Copies the context of the playground into links and forms of the same page, which the server rendered before the user
 * typed it.
 */
export function keepContext(): void {
  on("click", "a[href]", (link: HTMLAnchorElement) => {
    link.href = withContext(link.href);
  });
  on("submit", "form[method=post]", (form: HTMLFormElement) => {
    form.action = withContext(form.action);
  });
}

function withContext(address: string): string {
  const [next, here] = [new URL(address), new URL(location.href)];
  // Only addresses with an environment are states of the same page.
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
