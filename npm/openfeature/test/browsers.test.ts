// @vitest-environment jsdom
import { OpenFeature } from "@openfeature/web-sdk";
import { beforeAll, describe, it } from "vitest";
import { react } from "./react.tsx";
import { SCENARIOS } from "./scenarios.ts";
import { web } from "./web.ts";

beforeAll(() => {
  // The SDK logs every failure that the scenarios cause.
  OpenFeature.setLogger({ debug() {}, info() {}, warn() {}, error() {} });
});

describe.each([
  ["@openfeature/web-sdk", web],
  ["@openfeature/react-sdk", react],
])("PennonWebProvider in %s", (_, start) => {
  it.each(SCENARIOS)("$name", ({ run }) => run(start));
});
