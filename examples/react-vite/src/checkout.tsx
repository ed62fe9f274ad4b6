import { Feature, useFlag, useFlagDetails } from "@pennon/react";

/** The flag `banner` shows a line, and `new_checkout` chooses between two buttons. */
export function Checkout() {
  const hasBanner = useFlag("banner");
  const { reason } = useFlagDetails("new_checkout");
  return (
    <section>
      {hasBanner && <p className="banner">Free delivery this week</p>}
      <Feature flag="new_checkout" fallback={<button type="button">Check out</button>}>
        <button type="button" className="new">
          Buy now with one click
        </button>
      </Feature>
      <p>
        Why: <code>{reason ?? "no such flag"}</code>
      </p>
    </section>
  );
}
