import { FeatureFlagsProvider } from "@pennon/next/client";
import { getFeatureFlags } from "@pennon/next/server";
import { cookies } from "next/headers";
import { Checkout } from "./checkout";

export default async function Page() {
  const userId = (await cookies()).get("user")?.value;
  const flags = await getFeatureFlags({ userId });
  return (
    <FeatureFlagsProvider bootstrap={flags.snapshot()}>
      <Checkout />
    </FeatureFlagsProvider>
  );
}
