import * as pennon from "@pennon/core";
import { answers } from "../answers.js";

self.onmessage = async ({ data }) => postMessage(await answers(pennon, data));
