import { getFeatureFlags } from "@pennon/next/server";
import { Shown } from "../shown";
import { Live } from "./live";

/** A page that follows changes to the flags. */
export default async function Page({ searchParams }) {
  const { user } = await searchParams;
  const flags = await getFeatureFlags({ userId: user });
  return (
    <Live snapshot={flags.snapshot()} baseUrl={process.env.PENNON_URL}>
      <pre>{String(flags.isEnabled("per-user-99"))}</pre>
      <Shown user={user} />
    </Live>
  );
}
