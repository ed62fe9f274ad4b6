import { writeFileSync } from "node:fs";
import * as pennon from "@pennon/core";
import { test } from "vitest";
import { evaluateVectors } from "./evaluate-vectors.js";

test("the client evaluates the vectors", async () => {
  writeFileSync(
    "results.json",
    JSON.stringify(await evaluateVectors(pennon, process.env.PENNON_URL)),
  );
});
