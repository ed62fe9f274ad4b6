const { writeFileSync } = require("node:fs");
const { test } = require("@jest/globals");
const pennon = require("@pennon/core");
const { answers } = require("./answers.cjs");
const transport = require("./transport.cjs");

test("the client answers", async () => {
  // The jsdom environment has no `fetch`.
  const said = await answers(
    pennon,
    process.env.PENNON_URL,
    globalThis.fetch ? undefined : transport,
  );
  writeFileSync("said.json", JSON.stringify(said));
});
