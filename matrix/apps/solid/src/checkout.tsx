import { createSignal } from "solid-js";
import { createFlag } from "./flag";

export function Checkout() {
  const [userId, setUserId] = createSignal("ada");
  const hasNewCheckout = createFlag("new_checkout", () => ({ userId: userId() }));
  return (
    <>
      <select aria-label="Signed in as" onChange={(event) => setUserId(event.target.value)}>
        <option>ada</option>
        <option>linus</option>
      </select>
      <button type="button">{hasNewCheckout() ? "Buy now with one click" : "Check out"}</button>
    </>
  );
}
