import * as openfeature from "@openfeature/server-sdk";
import { fetchTransport } from "@pennon/core";
import { PennonServerProvider } from "@pennon/openfeature/server";
import { answers } from "./answers.js";
import { onServer, provided } from "./provided.js";

const FeatureFlagsClient = provided(openfeature, PennonServerProvider, onServer);
const said = await answers({ FeatureFlagsClient, fetchTransport }, process.argv[2]);
console.log(JSON.stringify(said));
