import type { Page } from "@playwright/test";

/** Something to wait for, until it is opened. */
export interface Gate {
  readonly opened: Promise<void>;
  readonly open: () => void;
}

/** Returns a gate, which stays closed until its `open` is called. */
export function closedGate(): Gate {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Holds the page's requests to this address until the returned function is called. */
export async function hold(page: Page, url: string): Promise<() => void> {
  const { opened, open } = closedGate();
  await page.route(url, async (route) => {
    await opened;
    await route.fallback();
  });
  return open;
}
