import { GrowthBook } from "@growthbook/growthbook";

export default {
  async fetch(_request, { SERVICE: apiHost }) {
    const attributes = { country: "DE", plan: "premium" };
    const client = new GrowthBook({ apiHost, clientKey: "sdk-growthbook", attributes });
    await client.init();
    return new Response(String(client.isOn("feature-000")));
  },
};
