import { readFileSync } from "node:fs";
import { OpenFeature as OnServers } from "@openfeature/server-sdk";
import { OpenFeature as InBrowsers } from "@openfeature/web-sdk";
import { afterEach, describe, expect, it, vi } from "vitest";
import { flagWithRule } from "../../core/test/scripted.ts";

/** What the documents show is compiled from these files. */
const FILES = ["server.ts", "web.ts", "react.tsx", "nest.ts"].map((file) =>
  readFileSync(new URL(`snippets/${file}`, import.meta.url), "utf8"),
);

afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

describe("the documents", () => {
  it.each(["../README.md", "../../../docs/openfeature.md"])(
    "show what compiles: %s",
    (document) => {
      const text = readFileSync(new URL(document, import.meta.url), "utf8");
      const snippets = Array.from(text.matchAll(/^```tsx?\n(.*?)^```$/gms), ([, code]) => code);
      expect(snippets.toSorted()).toEqual(FILES.toSorted());
    },
  );

  it("show what works", async () => {
    const rule = flagWithRule("new_checkout", "FI");
    const body = JSON.stringify({ flags: [rule] });
    const asked: unknown[] = [];
    const fetched = async (url: unknown) => {
      asked.push(url);
      return new Response(body, { headers: { ETag: '"1"' } });
    };
    vi.stubGlobal("fetch", fetched);
    vi.stubEnv("PENNON_SDK_KEY", "pnk_test");
    await import("./snippets/server.ts");
    const onServer = OnServers.getClient();
    for (const [country, value] of [["GB", true] as const, ["FI", false] as const]) {
      const details = await onServer.getBooleanDetails("new_checkout", !value, { country });
      expect(details).toMatchObject({ value });
    }
    await import("./snippets/web.ts");
    expect(InBrowsers.getClient().getBooleanDetails("new_checkout", true)).toMatchObject({
      value: false,
      reason: "TARGETING_MATCH",
    });
    expect(asked).toEqual(Array(2).fill("http://127.0.0.1:3000/sdk/v1/config"));
    await Promise.all([OnServers.clearProviders(), InBrowsers.clearProviders()]);
  });
});
