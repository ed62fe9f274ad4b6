import * as pennon from "@pennon/core";
import { evaluateVectors } from "../evaluate-vectors.js";

const baseUrl = new URLSearchParams(location.search).get("server") ?? location.origin;
evaluateVectors(pennon, baseUrl).then((output) => {
  document.querySelector("output").textContent = JSON.stringify(output);
});
