import type { Snapshot } from "@pennon/core";
import { FeatureFlagsProvider } from "@pennon/react";
import { hydrateRoot } from "react-dom/client";
import { Checkout } from "./app.tsx";

const options = { sdkKey: import.meta.env.VITE_PENNON_SDK_KEY };

/** `bootstrap` is what the server returned, sent along with the page as JSON. */
export function start(root: Element, bootstrap: Snapshot) {
  hydrateRoot(
    root,
    <FeatureFlagsProvider options={options} bootstrap={bootstrap}>
      <Checkout />
    </FeatureFlagsProvider>,
  );
}
