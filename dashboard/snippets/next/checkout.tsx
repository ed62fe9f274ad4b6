"use client";

import { useFlag } from "@pennon/next/client";

export function Checkout() {
  return <button type="button">{useFlag("new_checkout") ? "Buy now" : "Check out"}</button>;
}
