import { type NextRequest, NextResponse } from "next/server";
import { currentFlags } from "@/flags";

/** Serves another page at the same address while `new_checkout` is on for the user. */
export async function proxy(request: NextRequest) {
  const flags = await currentFlags();
  return flags.isEnabled("new_checkout")
    ? NextResponse.rewrite(new URL("/checkout/new", request.url))
    : NextResponse.next();
}

export const config = { matcher: "/checkout" };
