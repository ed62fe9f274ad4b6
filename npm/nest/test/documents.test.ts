import { afterEach, describe, expect, it, vi } from "vitest";
import { describeDocument } from "../../test-kit/code-blocks.ts";
import { flag, flagWithRule } from "../../test-kit/scripted.ts";
import { start } from "./application.ts";

describeDocument("npm/nest/README.md", ["npm/nest/test/snippets/"]);
describeDocument("docs/nest.md", ["examples/nest-api/src/", "npm/nest/test/snippets/"]);

const flags = [flagWithRule("new_checkout", "FI"), flag("banner"), flag("gifts", false)];

/** A server for clients with the default transport. It has no stream. */
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
  it("shows an application that works", async () => {
    serve();
    const { AppModule } = await import("./snippets/app.module.ts");
    const { get } = await start({ imports: [AppModule] });
    expect(await get("/checkout", "GB")).toEqual({ status: 200, body: { banner: true } });
    expect((await get("/checkout", "FI")).status).toBe(404);
    expect((await get("/checkout/express")).status).toBe(403);
  });

  it("shows asynchronous options, several clients, and a module for tests that work", async () => {
    serve();
    const { FlagsModule } = await import("./snippets/flags.module.ts");
    await start({ imports: [FlagsModule] });
    const named = await import("./snippets/named-clients.module.ts");
    const { app } = await start({ imports: [named.AppModule] });
    expect(app.get(named.Invoices).send("acme")).toBe(false);
    vi.unstubAllGlobals();
    const { withFlags } = await import("./snippets/with-flags.ts");
    const { CheckoutController } = await import("./snippets/checkout.controller.ts");
    const { get } = await start({
      imports: [withFlags("new_checkout", "express_checkout", "gifts")],
      controllers: [CheckoutController],
    });
    expect((await get("/checkout")).body).toEqual({ banner: false });
    expect((await get("/checkout/express")).body).toEqual({ gifts: true });
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
