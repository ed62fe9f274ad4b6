import * as pennon from "@pennon/core";
import { evaluateVectors } from "../evaluate-vectors.js";

self.onmessage = async ({ data }) => postMessage(await evaluateVectors(pennon, data));
