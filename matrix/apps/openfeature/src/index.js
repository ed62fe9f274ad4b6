import * as openfeature from "@openfeature/web-sdk";
import { fetchTransport } from "@pennon/core";
import { PennonWebProvider } from "@pennon/openfeature/web";
import { evaluateVectors } from "../evaluate-vectors.js";
import { inPage, provided } from "../provided.js";

const FeatureFlagsClient = provided(openfeature, PennonWebProvider, inPage);
evaluateVectors({ FeatureFlagsClient, fetchTransport }, location.origin).then((output) => {
  document.querySelector("output").textContent = JSON.stringify(output);
});
