import { FeatureFlagsClient } from "@pennon/core";
import { FeatureFlagsProvider } from "@pennon/react";
import { renderToString } from "react-dom/server";
import { Checkout } from "./app.tsx";

// One client for the whole process.
const client = new FeatureFlagsClient({ sdkKey: process.env.PENNON_SDK_KEY });
await client.initialize();

export function page(userId: string) {
  const bootstrap = client.withContext({ userId }).snapshot();
  const html = renderToString(
    <FeatureFlagsProvider client={client} bootstrap={bootstrap}>
      <Checkout />
    </FeatureFlagsProvider>,
  );
  return { html, bootstrap };
}
