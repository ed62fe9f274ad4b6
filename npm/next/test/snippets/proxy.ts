import { getFeatureFlags } from "@pennon/next/server";
import { type NextRequest, NextResponse } from "next/server";

export async function proxy(request: NextRequest) {
  const flags = await getFeatureFlags({ userId: request.cookies.get("user")?.value });
  const page = flags.isEnabled("new_checkout") ? "/checkout/new" : "/checkout";
  return NextResponse.rewrite(new URL(page, request.url));
}

export const config = { matcher: "/checkout" };
