import { post } from "./dom.ts";

/** The time to wait for the next letter before the service is asked, in milliseconds. */
const debounce = 250;
const maxKeyLength = 128;

/** What the service says of a key. */
type KeyCheck = { readonly isFree: boolean; readonly message: string };

/** Makes the key of a new flag from its name until somebody edits the key, and says whether a flag can have it. */
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

/** Returns a key that reads like the name: `New checkout (fast!)` is `new_checkout_fast`. */
function keyOf(name: string): string {
  // Decomposed, letters stand without their accents, which are then left out.
  const letters = name.normalize("NFKD").toLowerCase();
  const key = letters.replace(/[\u0300-\u036f'’]/g, "").replace(/[^a-z0-9]+/g, "_");
  return key.replace(/^_/, "").slice(0, maxKeyLength).replace(/_$/, "");
}
