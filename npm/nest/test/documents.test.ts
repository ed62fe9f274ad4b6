import { readdirSync, readFileSync } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { flag, flagWithRule } from "../../core/test/scripted.ts";
import { start } from "./application.ts";

const folder = new URL("snippets/", import.meta.url);
const example = new URL("../../../examples/nest-api/src/", import.meta.url);
const readAll = (folder: URL, files = readdirSync(folder)) =>
  files.map((file) => readFileSync(new URL(file, folder), "utf8"));

/** The code that a document shows. */
function snippetsOf(document: string): readonly string[] {
  const text = readFileSync(new URL(document, import.meta.url), "utf8");
  return Array.from(text.matchAll(/^```ts\n(.*?)^```$/gms), ([, code]) => code ?? "");
}

/** What the README leaves to the reader's imagination. */
const UNTOLD = ["settings.ts"];

const flags = [flagWithRule("new_checkout", "FI"), flag("banner"), flag("gifts", false)];

/** A service for clients that send their requests as usual; it has no stream. */
function serve(): void {
  vi.stubEnv("PENNON_SDK_KEY", "pnk_test");
  const body = JSON.stringify({ flags });
  vi.stubGlobal("fetch", async (url: string | URL) =>
    String(url).endsWith("/config")
      ? new Response(body, { headers: { ETag: '"1"' } })
      : new Response(null, { status: 404 }),
  );
}

afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

describe("the README", () => {
  it("shows what compiles, and all of it", () => {
    const files = readdirSync(folder).filter((file) => !UNTOLD.includes(file));
    expect([...snippetsOf("../README.md")].sort()).toEqual(readAll(folder, files).sort());
  });

  it("shows an application that works", async () => {
    serve();
    const { AppModule } = await import("./snippets/app.module.ts");
    const { get } = await start({ imports: [AppModule] });
    expect(await get("/checkout", "GB")).toEqual({ status: 200, body: { banner: true } });
    expect((await get("/checkout", "FI")).status).toBe(404);
    expect((await get("/checkout/express")).status).toBe(403);
  });

  it("shows options from elsewhere, several clients, and a module for tests that work", async () => {
    serve();
    const { FlagsModule } = await import("./snippets/async.module.ts");
    await start({ imports: [FlagsModule] });
    const { imports, Invoices } = await import("./snippets/named.ts");
    const { app } = await start({ imports, providers: [Invoices] });
    expect(app.get(Invoices).send("acme")).toBe(false);
    vi.unstubAllGlobals();
    const { withFlags } = await import("./snippets/mock.ts");
    const { CheckoutController } = await import("./snippets/checkout.controller.ts");
    const { get } = await start({
      imports: [withFlags("new_checkout", "express_checkout", "gifts")],
      controllers: [CheckoutController],
    });
    expect((await get("/checkout")).body).toEqual({ banner: false });
    expect((await get("/checkout/express")).body).toEqual({ gifts: true });
  });
});

describe("docs/nest.md", () => {
  const files = [...readAll(example), ...readAll(folder)];

  it.each(snippetsOf("../../../docs/nest.md"))("shows what is tried elsewhere: %j", (snippet) => {
    expect(files.some((file) => file.includes(snippet))).toBe(true);
  });
});

describe("examples/nest-api", () => {
  it("does what it promises", async () => {
    serve();
    const { AppModule } = await import("../../../examples/nest-api/src/app.module.ts");
    const { get } = await start({ imports: [AppModule] });
    expect(await get("/checkout", "GB")).toEqual({ status: 200, body: { checkout: "new" } });
    expect((await get("/checkout", "FI")).status).toBe(404);
    expect((await get("/banner")).body).toEqual({ banner: "Everything must go" });
    expect((await get("/flags", "FI")).body).toMatchObject({
      banner: { enabled: true, reason: "flag_enabled" },
      gifts: { enabled: false, reason: "flag_disabled" },
      new_checkout: { enabled: false, reason: "targeting_rule" },
    });
  });
});
