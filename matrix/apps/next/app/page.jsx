import * as pennon from "@pennon/core";
import { evaluateVectors } from "../evaluate-vectors";
import { InTheBrowser } from "./in-the-browser";

export const dynamic = "force-dynamic";

/** A server component that contains a client component. */
export default async function Page() {
  const baseUrl = process.env.PENNON_URL;
  return (
    <main>
      <pre>{JSON.stringify(await evaluateVectors(pennon, baseUrl))}</pre>
      <InTheBrowser baseUrl={baseUrl} />
    </main>
  );
}
