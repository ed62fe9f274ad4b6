// A page of an application with registered flags. It is compiled but never run.

import { getFeatureFlags } from "@pennon/next/server";

export default async function Page() {
  const flags = await getFeatureFlags({ userId: "ada" });
  const checkout: boolean = flags.isEnabled("new_checkout");
  // @ts-expect-error: a misspelt key.
  flags.isEnabled("new_chekout");
  // @ts-expect-error: the same.
  flags.evaluate("new_chekout");
  return String(checkout);
}
