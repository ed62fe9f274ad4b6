import { keyCheckAddress } from "./addresses.ts";
import { post } from "./dom.ts";

/** The delay after the last keystroke before the server is queried, in milliseconds. */
const debounce = 250;
const maxKeyLength = 128;

/** The server's verdict on a key. */
type KeyCheck = { readonly isFree: boolean; readonly message: string };

/** Derives the key of a new flag from its name until the user edits the key, and shows whether the key is available. */
export function checkFlagKeys(): void {
  const generated = new WeakMap<HTMLFormElement, string>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  document.addEventListener("input", ({ target }) => {
    const form = target instanceof HTMLInputElement ? target.form : null;
    const status = form?.querySelector<HTMLElement>(".key-check");
    const key = form?.querySelector<HTMLInputElement>("[name=key]");
    if (!(target instanceof HTMLInputElement) || !form || !status || !key) {
      return;
    }
    if (target.name === "name" && key.value === (generated.get(form) ?? "")) {
      key.value = keyOf(target.value);
      generated.set(form, key.value);
    } else if (target !== key) {
      return;
    }
    clearTimeout(timer);
    show(status, undefined);
    if (key.value !== "") {
      timer = setTimeout(() => void check(key, status), debounce);
    }
  });
}

async function check(input: HTMLInputElement, status: HTMLElement): Promise<void> {
  const key = input.value;
  const result = await post(keyCheckAddress, { key }).then(
    (response) => (response.ok ? (response.json() as Promise<KeyCheck>) : undefined),
    () => undefined,
  );
  if (input.value === key) {
    show(status, result);
  }
}

function show(status: HTMLElement, result: KeyCheck | undefined): void {
  status.classList.toggle("free", result?.isFree === true);
  status.classList.toggle("wrong", result?.isFree === false);
  status.textContent = result?.message ?? "";
}

/** Returns a key that resembles the name: `new_checkout_fast` for `New checkout (fast!)`. */
function keyOf(name: string): string {
  // Decomposition separates accents from their letters, and the accents are then removed.
  const letters = name.normalize("NFKD").toLowerCase();
  const key = letters.replace(/[\u0300-\u036f'’]/g, "").replace(/[^a-z0-9]+/g, "_");
  return key.replace(/^_/, "").slice(0, maxKeyLength).replace(/_$/, "");
}
