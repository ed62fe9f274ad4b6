import * as pennon from "@pennon/core";
import { evaluateVectors } from "../../evaluate-vectors";

export const runtime = "edge";
export const dynamic = "force-dynamic";

export async function GET() {
  return Response.json(await evaluateVectors(pennon, process.env.PENNON_URL));
}
