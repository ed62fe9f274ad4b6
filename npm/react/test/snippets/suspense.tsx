import { useSuspenseFlag } from "@pennon/react";
import { Suspense } from "react";

export function CheckoutWithFlags() {
  return (
    <Suspense fallback={<p>…</p>}>
      <Checkout />
    </Suspense>
  );
}

function Checkout() {
  return <button type="button">{useSuspenseFlag("new_checkout") ? "Buy now" : "Check out"}</button>;
}
