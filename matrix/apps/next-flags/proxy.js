import { getFeatureFlags } from "@pennon/next/server";
import { NextResponse } from "next/server";

export async function proxy(request) {
  const flags = await getFeatureFlags({ userId: request.nextUrl.searchParams.get("user") });
  const response = NextResponse.next();
  response.headers.set("X-Flag", String(flags.isEnabled("per-user-99")));
  return response;
}

export const config = { matcher: "/answer" };
