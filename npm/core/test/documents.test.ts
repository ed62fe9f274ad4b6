import { readdirSync, readFileSync } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { flag } from "./scripted.ts";
import { clientWith } from "./snippets/client-with.js";

const root = new URL("../../../", import.meta.url);

/** Where the snippets of a document come from: the files of these folders are run, or tested. */
const sources = {
  "docs/node.md": ["examples/node-express/src/", "npm/core/test/snippets/"],
  "docs/browser.md": ["examples/browser-plain/", "examples/browser-plain/public/"],
};

describe.each(Object.entries(sources))("%s", (document, folders) => {
  const files = folders
    .flatMap((folder) => readdirSync(new URL(folder, root)).map((file) => folder + file))
    .filter((file) => /\.(js|html)$/.test(file))
    .map((file) => readFileSync(new URL(file, root), "utf8"));
  const text = readFileSync(new URL(document, root), "utf8");
  const snippets = Array.from(text.matchAll(/^```(?:js|html)\n(.*?)^```$/gms), ([, code]) => code);

  it("shows code", () => {
    expect(snippets).not.toEqual([]);
  });

  it.each(snippets)("shows what is tried elsewhere: %j", (snippet = "") => {
    expect(files.some((file) => file.includes(snippet))).toBe(true);
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Lets time pass in leaps. */
async function passTimeUntil(holds: () => boolean): Promise<void> {
  while (!holds()) {
    await vi.advanceTimersByTimeAsync(500);
  }
}

describe("docs/node.md", () => {
  it("shows a beginning that tries again until the service is there", async () => {
    vi.stubEnv("PENNON_SDK_KEY", "pnk_test");
    vi.useFakeTimers();
    const log = vi.spyOn(console, "log").mockReturnValue();
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    const fetch = vi.fn().mockRejectedValue(new TypeError("fetch failed"));
    vi.stubGlobal("fetch", fetch);
    const { begin, client } = await import("../../../examples/node-express/src/flags.js");
    begin();
    await passTimeUntil(() => warn.mock.calls.length > 0);
    expect(client.isReady()).toBe(false);
    const body = JSON.stringify({ flags: [flag("banner")] });
    fetch.mockImplementation(async (url) =>
      String(url).endsWith("/config") ? new Response(body) : new Response(null, { status: 404 }),
    );
    await passTimeUntil(() => client.isReady());
    expect(client.read("banner")?.enabled).toBe(true);
    expect(log).toHaveBeenCalledWith("The flags are there");
    await client.shutdown();
  });

  it("shows a client for tests that works", async () => {
    const client = await clientWith("new_checkout");
    const flags = client.withContext({ userId: "ada" });
    expect(flags.isEnabled("new_checkout")).toBe(true);
    expect(flags.isEnabled("banner")).toBe(false);
    await client.shutdown();
  });
});
