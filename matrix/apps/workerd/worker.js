import * as pennon from "@pennon/core";
import { clientFor } from "./client-for.js";
import { evaluateVectors } from "./evaluate-vectors.js";

export default {
  async fetch(request, { PENNON_URL }) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/") {
      return Response.json(await evaluateVectors(pennon, PENNON_URL));
    }
    const options = { sdkKey: "live", baseUrl: PENNON_URL };
    const client = await clientFor(options, Number(searchParams.get("maxAgeMs")));
    return Response.json(client.read("beta", { country: "GB" }) ?? null);
  },
};
