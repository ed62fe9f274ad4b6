import { newCheckout } from "./flags.ts";

export default async function Page() {
  return <a href="/checkout">{(await newCheckout()) ? "Buy now" : "Check out"}</a>;
}
