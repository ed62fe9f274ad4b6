import { streamFeatureFlags } from "@pennon/next/server";
import { cookies } from "next/headers";

export async function GET() {
  return streamFeatureFlags({ userId: (await cookies()).get("user")?.value });
}
