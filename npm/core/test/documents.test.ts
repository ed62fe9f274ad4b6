import { FeatureFlagsClient } from "@pennon/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { describeDocument, describeSnippets, documentText } from "../../test-kit/code-blocks.ts";
import {
  configuration,
  flag,
  flagWithRule,
  optionsFor,
  ScriptedServer,
} from "../../test-kit/scripted.ts";
import { clientFor } from "./snippets/saved-snapshot.js";

describeDocument("npm/core/README.md", ["npm/core/test/snippets/"]);
describeDocument("docs/node.md", ["examples/node-express/src/", "matrix/apps/workerd/"]);
describeDocument("docs/browser.md", ["examples/browser-plain/", "examples/browser-plain/public/"]);
describeDocument(
  "docs/frameworks.md",
  ["framework", "vue", "svelte", "angular", "solid"].map((name) => `matrix/apps/${name}/src/`),
);
const snippets = [
  "npm/core/test/snippets/",
  "npm/core/test/snippets/browser/",
  "npm/react/test/snippets/",
  "npm/next/test/snippets/",
  "npm/nest/test/snippets/",
  "npm/openfeature/test/snippets/",
];

describeDocument("docs/testing.md", snippets);

describe("snippets", () => {
  const guides = ["nest", "next", "openfeature", "testing"].map((name) => `docs/${name}.md`);
  const packages = ["core", "nest", "next", "openfeature", "react"];
  describeSnippets(snippets, [...guides, ...packages.map((name) => `npm/${name}/README.md`)]);
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Advances the fake time in steps of half a second until the condition holds. */
async function passTimeUntil(holds: () => boolean): Promise<void> {
  while (!holds()) {
    await vi.advanceTimersByTimeAsync(500);
  }
}

describe("npm/core/README.md", () => {
  const ruled = configuration([flagWithRule("new_checkout", "GB")]);

  it("shows a quick start that works", async () => {
    vi.stubEnv("PENNON_SDK_KEY", "pnk_test");
    const body = JSON.stringify({ flags: [flagWithRule("new_checkout", "FI")] });
    const fetch = vi.fn(async () => new Response(body));
    vi.stubGlobal("fetch", fetch);
    await import("./snippets/quick-start.js");
    expect(fetch).toHaveBeenCalledOnce();
  });

  it("shows a client that lets the server evaluate", async () => {
    vi.stubEnv("PENNON_SDK_KEY", "pnp_test");
    const flags = [{ key: "new_checkout", enabled: true, reason: "rollout" }];
    const fetch = vi.fn(async (_url: string, _init: RequestInit) => Response.json({ flags }));
    vi.stubGlobal("fetch", fetch);
    await import("./snippets/remote-mode.js");
    const bodies = fetch.mock.calls.map(([, { body }]) => JSON.parse(String(body)));
    expect(bodies).toEqual([
      { context: { userId: "ada", country: "GB" } },
      { context: { userId: "linus", country: "FI" } },
    ]);
  });

  it("shows a client that starts with the flags of the last visit", async () => {
    const storage = new Map<string, string>();
    vi.stubGlobal("localStorage", {
      getItem: (name: string) => storage.get(name) ?? null,
      setItem: (name: string, text: string) => storage.set(name, text),
    });
    const ada = { userId: "ada", country: "GB" };
    const visit = () => clientFor(ada, optionsFor(new ScriptedServer(ruled)));
    const first = visit();
    expect(first.read("new_checkout", ada)).toBeUndefined();
    await first.initialize();
    const evaluation = first.read("new_checkout", ada);
    await first.shutdown();
    expect(evaluation?.reason).toBe("targeting_rule");
    const second = visit();
    expect(second.isReady()).toBe(false);
    expect(second.read("new_checkout", ada)).toEqual(evaluation);
    await second.shutdown();
  });
});

describe("docs/node.md", () => {
  it("shows a start that retries until the server is up", async () => {
    vi.stubEnv("PENNON_SDK_KEY", "pnk_test");
    vi.useFakeTimers();
    const log = vi.spyOn(console, "log").mockReturnValue();
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    const fetch = vi.fn().mockRejectedValue(new TypeError("fetch failed"));
    vi.stubGlobal("fetch", fetch);
    const { client, loadFlags } = await import("../../../examples/node-express/src/flags.js");
    loadFlags();
    await passTimeUntil(() => warn.mock.calls.length > 0);
    expect(client.isReady()).toBe(false);
    const body = JSON.stringify({ flags: [flag("banner")] });
    fetch.mockImplementation(async (url) =>
      String(url).endsWith("/config") ? new Response(body) : new Response(null, { status: 404 }),
    );
    await passTimeUntil(() => client.isReady());
    expect(client.read("banner")?.enabled).toBe(true);
    expect(log).toHaveBeenCalledWith("Flags loaded");
    await client.shutdown();
  });
});

describe("docs/recipes.md", () => {
  const recipes = documentText("docs/recipes.md")
    .split(/^## /m)
    .filter((section) => section.includes("admin $CONFIG/rules"))
    .map((recipe) => ({ title: recipe.split("\n", 1)[0], recipe }));

  it("shows recipes", () => {
    expect(recipes.length).toBeGreaterThan(4);
  });

  it.each(recipes)("shows what the engine does: $title", async ({ recipe }) => {
    const bodies = (path: string) =>
      Array.from(
        recipe.matchAll(new RegExp(`admin \\$CONFIG/${path}(?: -X PUT)? --json '(.*?)'$`, "gms")),
        ([, body = ""]) => JSON.parse(body),
      );
    const [rollout = null] = bodies("rollout");
    const bootstrap = {
      flags: [{ key: "recipe", enabled: true, rules: bodies("rules"), rollout }],
    };
    await using client = new FeatureFlagsClient({ sdkKey: "pnk_test", bootstrap });
    await client.initialize();
    const rows = Array.from(recipe.matchAll(/^\| `(\{.*\})` \| (on|off) \| `(\w+)` \|$/gm));
    expect(rows).toHaveLength(recipe.match(/^\| `\{/gm)?.length ?? 0);
    expect(rows).not.toEqual([]);
    for (const [, context = "", value, reason] of rows) {
      const evaluation = client.evaluate("recipe", JSON.parse(context));
      expect(evaluation, context).toEqual({ enabled: value === "on", reason });
    }
  });
});
