import { perUser } from "../declared";

/** A page with a flag of Vercel's Flags SDK. */
export default async function Page() {
  return <pre>{String(await perUser())}</pre>;
}
