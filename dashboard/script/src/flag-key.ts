import { post } from "./dom.ts";

/** The delay after the last keystroke before the service is queried, in milliseconds. */
const debounce = 250;
const maxKeyLength = 128;

/** The service's verdict on a key. */
type KeyCheck = { readonly isFree: boolean; readonly message: string };

/** Derives the key of a new flag from its name until the user edits the key, and shows whether the key is available. */
export function checkFlagKeys(): void {
  const made = new WeakMap<HTMLFormElement, string>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  document.addEventListener("input", ({ target }) => {
    const form = target instanceof HTMLInputElement ? target.form : null;
    const place = form?.querySelector<HTMLElement>(".key-check");
    const key = form?.querySelector<HTMLInputElement>("[name=key]");
    if (!(target instanceof HTMLInputElement) || !form || !place || !key) {
      return;
    }
    if (target.name === "name" && key.value === (made.get(form) ?? "")) {
      key.value = keyOf(target.value);
      made.set(form, key.value);
    } else if (target !== key) {
      return;
    }
    clearTimeout(timer);
    show(place, undefined);
    if (key.value !== "") {
      timer = setTimeout(() => void check(key, place), debounce);
    }
  });
}

async function check(input: HTMLInputElement, place: HTMLElement): Promise<void> {
  const key = input.value;
  const result = await post("/dashboard/api/check-key", { key }).then(
    (answer) => (answer.ok ? (answer.json() as Promise<KeyCheck>) : undefined),
    () => undefined,
  );
  if (input.value === key) {
    show(place, result);
  }
}

function show(place: HTMLElement, result: KeyCheck | undefined): void {
  place.classList.toggle("free", result?.isFree === true);
  place.classList.toggle("wrong", result?.isFree === false);
  place.textContent = result?.message ?? "";
}

/** Returns a key that resembles the name: `new_checkout_fast` for `New checkout (fast!)`. */
function keyOf(name: string): string {
  // Decomposition separates accents from their letters, and the accents are then removed.
  const letters = name.normalize("NFKD").toLowerCase();
  const key = letters.replace(/[\u0300-\u036f'’]/g, "").replace(/[^a-z0-9]+/g, "_");
  return key.replace(/^_/, "").slice(0, maxKeyLength).replace(/_$/, "");
}
