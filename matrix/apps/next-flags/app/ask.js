"use server";

import { getFeatureFlags } from "@pennon/next/server";

export async function ask(userId) {
  const flags = await getFeatureFlags({ userId });
  return flags.isEnabled("per-user-99");
}
