import * as pennon from "@pennon/core";
import { evaluateVectors } from "./evaluate-vectors";

export const config = { matcher: "/middleware" };

export async function middleware() {
  return Response.json(await evaluateVectors(pennon, process.env.PENNON_URL));
}
