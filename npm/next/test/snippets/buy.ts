"use server";

import { getFeatureFlags } from "@pennon/next/server";
import { cookies } from "next/headers";

export async function buyWithOneClick() {
  const flags = await getFeatureFlags({ userId: (await cookies()).get("user")?.value });
  if (!flags.isEnabled("new_checkout")) {
    throw new Error("Not for this user");
  }
}
