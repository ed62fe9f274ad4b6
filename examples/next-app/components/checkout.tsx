"use client";

import { Feature, useFlagDetails } from "@pennon/next/client";

/** Links to the checkout. The flag `new_checkout` changes the text here, and the page in `proxy.ts`. */
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
