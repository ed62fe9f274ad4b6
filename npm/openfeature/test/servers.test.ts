import { OpenFeature } from "@openfeature/server-sdk";
import { beforeAll, describe, it } from "vitest";
import { nest } from "./nest.ts";
import { SCENARIOS } from "./scenarios.ts";
import { server } from "./server.ts";

beforeAll(() => {
  // The SDK logs every failure that the scenarios cause.
  OpenFeature.setLogger({ debug() {}, info() {}, warn() {}, error() {} });
});

describe.each([
  ["@openfeature/server-sdk", server],
  ["@openfeature/nestjs-sdk", nest],
])("PennonServerProvider in %s", (_, start) => {
  it.each(SCENARIOS)("$name", ({ run }) => run(start));
});
