import * as openfeature from "@openfeature/server-sdk";
import { fetchTransport } from "@pennon/core";
import { PennonServerProvider } from "@pennon/openfeature/server";
import { evaluateVectors } from "./evaluate-vectors.js";
import { onServer, provided } from "./provided.js";

const FeatureFlagsClient = provided(openfeature, PennonServerProvider, onServer);
const output = await evaluateVectors({ FeatureFlagsClient, fetchTransport }, process.argv[2]);
console.log(JSON.stringify(output));
