"use client";

import { Feature, useFlagDetails } from "@pennon/next/client";

/** The flag `new_checkout` chooses the words, and in `proxy.ts` where the link leads. */
export function Checkout() {
  const { reason } = useFlagDetails("new_checkout");
  return (
    <section>
      <a href="/checkout">
        <Feature flag="new_checkout" fallback="Check out">
          Buy now with one click
        </Feature>
      </a>
      <p>
        Why: <code>{reason ?? "no such flag"}</code>
      </p>
    </section>
  );
}
