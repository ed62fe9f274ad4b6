import * as openfeature from "@openfeature/web-sdk";
import { fetchTransport } from "@pennon/core";
import { PennonWebProvider } from "@pennon/openfeature/web";
import { answers } from "../answers.js";
import { inPage, provided } from "../provided.js";

const FeatureFlagsClient = provided(openfeature, PennonWebProvider, inPage);
answers({ FeatureFlagsClient, fetchTransport }, location.origin).then((said) => {
  document.querySelector("output").textContent = JSON.stringify(said);
});
