import * as pennon from "@pennon/core";
import { answers } from "./answers";

export const config = { matcher: "/middleware" };

export async function middleware() {
  return Response.json(await answers(pennon, process.env.PENNON_URL));
}
