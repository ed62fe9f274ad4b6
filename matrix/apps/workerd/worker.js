import * as pennon from "@pennon/core";
import { answers } from "./answers.js";

export default {
  async fetch(_request, { SERVICE }) {
    return Response.json(await answers(pennon, SERVICE));
  },
};
