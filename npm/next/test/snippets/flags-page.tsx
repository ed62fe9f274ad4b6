import { newCheckout } from "@/vercel-flags";

export default async function Page() {
  return <a href="/checkout">{(await newCheckout()) ? "Buy now" : "Check out"}</a>;
}
