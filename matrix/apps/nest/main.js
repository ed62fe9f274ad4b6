import * as common from "@nestjs/common";
import * as core from "@nestjs/core";
import { fetchTransport } from "@pennon/core";
import * as pennon from "@pennon/nest";
import { evaluateVectors } from "./evaluate-vectors.js";
import { served } from "./served.js";

const FeatureFlagsClient = served(common, core, pennon);
const output = await evaluateVectors({ FeatureFlagsClient, fetchTransport }, process.argv[2]);
console.log(JSON.stringify(output));
