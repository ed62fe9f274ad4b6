const { writeFileSync } = require("node:fs");
const { test } = require("@jest/globals");
const pennon = require("@pennon/core");
const { evaluateVectors } = require("./evaluate-vectors.cjs");
const transport = require("./transport.cjs");

test("the client evaluates the vectors", async () => {
  // The jsdom environment has no `fetch`.
  const output = await evaluateVectors(
    pennon,
    process.env.PENNON_URL,
    globalThis.fetch ? undefined : transport,
  );
  writeFileSync("results.json", JSON.stringify(output));
});
