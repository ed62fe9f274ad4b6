import { FeatureFlagsProvider, useFlag } from "@pennon/next/client";
import { getFeatureFlags } from "@pennon/next/server";

export default async function Page({ user }) {
  const flags = await getFeatureFlags({ userId: user });
  return (
    <FeatureFlagsProvider bootstrap={flags.snapshot()}>
      {flags.isEnabled("banner") ? "banner" : "no banner"}, <Checkout />
    </FeatureFlagsProvider>
  );
}

function Checkout() {
  return useFlag("new_checkout") ? "new" : "old";
}
