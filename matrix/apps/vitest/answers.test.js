import { writeFileSync } from "node:fs";
import * as pennon from "@pennon/core";
import { test } from "vitest";
import { answers } from "./answers.js";

test("the client answers", async () => {
  writeFileSync("said.json", JSON.stringify(await answers(pennon, process.env.PENNON_URL)));
});
