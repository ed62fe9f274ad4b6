import { FeatureFlagsProvider } from "@pennon/next/client";
import { Checkout } from "@/components/checkout";
import { SignIn } from "@/components/sign-in";
import { currentFlags } from "@/flags";

export default async function Page() {
  const flags = await currentFlags();
  return (
    <FeatureFlagsProvider bootstrap={flags.snapshot()} stream="/flags">
      <h1>Shop</h1>
      <SignIn />
      {flags.isEnabled("banner") && <p className="banner">Free delivery this week</p>}
      <Checkout />
    </FeatureFlagsProvider>
  );
}
