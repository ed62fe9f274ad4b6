import * as pennon from "@pennon/core";
import { answers } from "../../answers";

export const runtime = "edge";
export const dynamic = "force-dynamic";

export async function GET() {
  return Response.json(await answers(pennon, process.env.PENNON_URL));
}
