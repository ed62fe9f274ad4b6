import { FeatureFlagsClient } from "@pennon/core";

export default {
  async fetch(_request, { SERVICE: baseUrl }) {
    const client = new FeatureFlagsClient({ sdkKey: "pnk_bench", baseUrl, reportUsage: false });
    await client.initialize();
    const context = { country: "DE", customAttributes: { plan: "premium" } };
    const { enabled } = client.evaluate("feature-000", context);
    await client.shutdown();
    return new Response(String(enabled));
  },
};
