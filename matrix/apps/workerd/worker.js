import * as pennon from "@pennon/core";
import { answers } from "./answers.js";
import { clientFor } from "./client-for.js";

export default {
  async fetch(request, { SERVICE }) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/") {
      return Response.json(await answers(pennon, SERVICE));
    }
    const options = { sdkKey: "live", baseUrl: SERVICE };
    const client = await clientFor(options, Number(searchParams.get("maxAgeMs")));
    return Response.json(client.read("beta", { country: "GB" }) ?? null);
  },
};
