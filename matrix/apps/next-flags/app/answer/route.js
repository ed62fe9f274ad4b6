import { getFeatureFlags } from "@pennon/next/server";

export async function GET(request) {
  const userId = new URL(request.url).searchParams.get("user");
  const flags = await getFeatureFlags({ userId });
  return Response.json(flags.read("per-user-99") ?? null);
}
