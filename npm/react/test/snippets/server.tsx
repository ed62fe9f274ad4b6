import { FeatureFlagsClient, type Snapshot } from "@pennon/core";
import { FeatureFlagsProvider } from "@pennon/react";
import { hydrateRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";

declare const sdkKey: string;
declare const App: () => null;

// On the server: one client for the whole process.
const client = new FeatureFlagsClient({ sdkKey });

export function page(userId: string) {
  const bootstrap = client.withContext({ userId }).snapshot();
  const html = renderToString(
    <FeatureFlagsProvider client={client} bootstrap={bootstrap}>
      <App />
    </FeatureFlagsProvider>,
  );
  return { html, bootstrap };
}

// In the browser, with the bootstrap that came with the page as JSON.
export function start(root: Element, bootstrap: Snapshot) {
  hydrateRoot(
    root,
    <FeatureFlagsProvider options={{ sdkKey }} bootstrap={bootstrap}>
      <App />
    </FeatureFlagsProvider>,
  );
}
