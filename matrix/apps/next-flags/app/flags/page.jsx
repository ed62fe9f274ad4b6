import { FeatureFlagsProvider } from "@pennon/next/client";
import { getFeatureFlags } from "@pennon/next/server";
import { Shown } from "../shown";

/** A page without an SDK key. */
export default async function Page({ searchParams }) {
  const { user } = await searchParams;
  const flags = await getFeatureFlags({ userId: user });
  return (
    <FeatureFlagsProvider bootstrap={flags.snapshot()}>
      <pre>{String(flags.isEnabled("per-user-99"))}</pre>
      <Shown user={user} />
    </FeatureFlagsProvider>
  );
}
