import Link from "next/link";

export default function Page() {
  return (
    <>
      <h1>New checkout</h1>
      <p>Done with one click</p>
      <Link href="/">Back to the shop</Link>
    </>
  );
}
