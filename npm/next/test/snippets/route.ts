import { getFeatureFlags } from "@pennon/next/server";
import type { NextRequest } from "next/server";

export async function GET(request: NextRequest) {
  const flags = await getFeatureFlags({ userId: request.cookies.get("user")?.value });
  return Response.json({ banner: flags.isEnabled("banner") });
}
