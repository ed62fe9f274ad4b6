import "reflect-metadata";
import { Controller, Get, Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { InMemoryProvider, OpenFeature as OnServers } from "@openfeature/server-sdk";
import { OpenFeature as InBrowsers } from "@openfeature/web-sdk";
import { afterEach, describe, expect, it, vi } from "vitest";
import { describeDocument } from "../../test-kit/code-blocks.ts";
import { flagWithRule } from "../../test-kit/scripted.ts";

const snippets = ["npm/openfeature/test/snippets/"];

describeDocument("npm/openfeature/README.md", snippets);
describeDocument("docs/openfeature.md", snippets);

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

describe("the documents", () => {
  it("show code that works", async () => {
    const rule = flagWithRule("new_checkout", "FI");
    const body = JSON.stringify({ flags: [rule] });
    const requested: unknown[] = [];
    const fetched = async (url: unknown) => {
      requested.push(url);
      return new Response(body, { headers: { ETag: '"1"' } });
    };
    vi.stubGlobal("fetch", fetched);
    // The first poll is at a random time, which could be now.
    vi.spyOn(Math, "random").mockReturnValue(0.5);
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
    expect(requested).toEqual(Array(2).fill("http://127.0.0.1:3000/sdk/v1/config"));
    await Promise.all([OnServers.clearProviders(), InBrowsers.clearProviders()]);
  });

  it("show a NestJS module that also serves requests without a user", async () => {
    const { AppModule } = await import("./snippets/app.module.ts");
    await OnServers.setProviderAndWait(new InMemoryProvider({}));
    @Controller("health")
    class Health {
      @Get()
      check() {
        return "healthy";
      }
    }
    class Root {}
    Module({ imports: [AppModule], controllers: [Health] })(Root);
    const app = await NestFactory.create(Root, { logger: false });
    await app.listen(0, "127.0.0.1");
    const response = await fetch(`${await app.getUrl()}/health`);
    expect(await response.text()).toBe("healthy");
    await app.close();
  });

  it("show a provider for tests that works", async () => {
    const { useFlags } = await import("./snippets/use-flags.ts");
    await useFlags("new_checkout");
    const client = OnServers.getClient();
    expect(await client.getBooleanValue("new_checkout", false)).toBe(true);
    expect(await client.getBooleanValue("banner", false)).toBe(false);
    await OnServers.clearProviders();
  });
});
