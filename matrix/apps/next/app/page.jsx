import * as pennon from "@pennon/core";
import { answers } from "../answers.js";
import { InTheBrowser } from "./in-the-browser.jsx";

export const dynamic = "force-dynamic";

/** A server component, with a client component in it. */
export default async function Page() {
  const service = process.env.SERVICE;
  return (
    <main>
      <pre>{JSON.stringify(await answers(pennon, service))}</pre>
      <InTheBrowser service={service} />
    </main>
  );
}
