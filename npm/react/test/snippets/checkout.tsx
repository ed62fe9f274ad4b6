import { useFlag } from "@pennon/react";

export function Checkout() {
  return <button type="button">{useFlag("new_checkout") ? "Buy now" : "Check out"}</button>;
}
