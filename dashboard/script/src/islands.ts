/** The module with the code of the islands: the functions that hydrate them, by name. */
type Islands = {
  readonly default: (source: { module_or_path: string }) => Promise<unknown>;
  readonly hydrate: () => void;
  readonly [name: string]: unknown;
};

/** The delay before the second attempt to load the module, in milliseconds. It increases with each attempt. */
const retryDelay = 5_000;

let loading: Promise<Islands> | undefined;

/** Hydrates the islands within these elements. Loads the module for the first one. */
export async function hydrate(roots: readonly Element[]): Promise<void> {
  const within = roots.flatMap((root) => [root, ...root.querySelectorAll("leptos-island")]);
  const islands = new Set(within.filter(isIsland));
  if (islands.size === 0) {
    return;
  }
  loading ??= load();
  const code = await loading;
  for (const island of islands) {
    const start = code[island.dataset.component ?? ""];
    if (typeof start === "function") {
      await start(island);
    }
  }
}

export function isIsland(element: Element): element is HTMLElement {
  return element.localName === "leptos-island";
}

/** Loads the module, and tries again if the network or the server fails. */
async function load(): Promise<Islands> {
  const script = document.querySelector<HTMLScriptElement>("script[data-islands]");
  const { islands = "", wasm = "" } = script?.dataset ?? {};
  for (let attempt = 1; ; attempt++) {
    try {
      // Some browsers remember the failure of an address, which includes the fragment.
      const code = (await import(`${islands}#${attempt}`)) as Islands;
      await code.default({ module_or_path: wasm });
      code.hydrate();
      return code;
    } catch (error) {
      reportError(error);
      await new Promise((resolve) => setTimeout(resolve, retryDelay * attempt));
    }
  }
}
