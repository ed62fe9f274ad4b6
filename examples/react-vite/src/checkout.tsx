import { Feature, useFlag, useFlagDetails } from "@pennon/react";

/** Shows a line while `banner` is on, and one of two buttons depending on `new_checkout`. */
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
