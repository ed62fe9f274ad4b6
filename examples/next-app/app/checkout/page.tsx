import Link from "next/link";

export default function Page() {
  return (
    <>
      <h1>Checkout</h1>
      <p>Step 1 of 5: your address</p>
      <Link href="/">Back to the shop</Link>
    </>
  );
}
