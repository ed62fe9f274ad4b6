import * as pennon from "@pennon/core";
import { evaluateVectors } from "./evaluate-vectors.js";

evaluateVectors(pennon, process.argv[2]).then((output) => console.log(JSON.stringify(output)));
