import "reflect-metadata";
import { Controller, Get, Global, Inject, Module, type OnModuleInit } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { ExpressAdapter } from "@nestjs/platform-express";
import { FeatureFlagsClient } from "@pennon/core";
import {
  FeatureFlags,
  FeatureFlagsModule,
  FlagValue,
  getFeatureFlagsToken,
  InjectFeatureFlags,
  RequireFlag,
} from "@pennon/nest";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  configuration,
  flag,
  optionsFor,
  ScriptedServer,
  unreachable,
} from "../../test-kit/scripted.ts";
import { start } from "./application.ts";
import { withFlags } from "./snippets/with-flags.ts";

const quick = { retries: 1, retryDelayMs: 0 };

/** Creates an application with these imports, which is not initialized. */
async function created(
  ...imports: readonly NonNullable<Parameters<typeof Module>[0]["imports"]>[0][]
) {
  class Root {}
  Module({ imports: [...imports] })(Root);
  const app = await NestFactory.create(Root, new ExpressAdapter(), {
    logger: false,
    abortOnError: false,
  });
  onTestFinished(() => app.close());
  return app;
}

it("has its flags without being initialized", async () => {
  const options = optionsFor(new ScriptedServer(configuration([flag("on")])));
  const app = await created(
    FeatureFlagsModule.forRoot({ options }),
    FeatureFlagsModule.forRootAsync({ name: "other", useFactory: async () => ({ options }) }),
  );
  for (const name of [undefined, "other"]) {
    expect(app.get<FeatureFlagsClient>(getFeatureFlagsToken(name)).read("on")?.enabled).toBe(true);
  }
});

it("has its flags before a global module that is imported earlier is created", async () => {
  const seen: boolean[] = [];
  class Early implements OnModuleInit {
    readonly #client: FeatureFlagsClient;

    constructor(@InjectFeatureFlags() client: FeatureFlagsClient) {
      this.#client = client;
      seen.push(client.isReady());
    }

    onModuleInit() {
      seen.push(this.#client.isReady());
    }
  }
  class EarlyModule {}
  Module({ providers: [Early] })(EarlyModule);
  Global()(EarlyModule);
  const options = optionsFor(new ScriptedServer(configuration([flag("on")])));
  const app = await created(EarlyModule, FeatureFlagsModule.forRoot({ options }));
  await app.init();
  expect(seen).toEqual([true, true]);
});

it("fails when it is initialized without required flags", async () => {
  const options = optionsFor(new ScriptedServer(unreachable()), quick);
  const app = await created(FeatureFlagsModule.forRoot({ options, required: true }));
  await expect(app.init()).rejects.toMatchObject({ code: "INITIALIZATION_FAILED" });
});

it("has the fixed flags of a test, without an initialization", async () => {
  const app = await created(withFlags("on"));
  const client = app.get<FeatureFlagsClient>(getFeatureFlagsToken());
  expect(client.read("on", { userId: "ada" })?.enabled).toBe(true);
  expect(client.read("other")).toBeUndefined();
});

describe("a test that overrides the client", () => {
  @Controller()
  class Readers {
    readonly #client: FeatureFlagsClient;
    readonly #flags: FeatureFlags;

    constructor(
      @InjectFeatureFlags() client: FeatureFlagsClient,
      @Inject(FeatureFlags) flags: FeatureFlags,
    ) {
      this.#client = client;
      this.#flags = flags;
    }

    @Get()
    @RequireFlag("fixed")
    read(@FlagValue("fixed") value: boolean) {
      return [value, this.#client.isEnabled("fixed"), this.#flags.isEnabled("fixed")];
    }
  }

  it.each([true, false])("reads only its flags, with required: %s", async (required) => {
    const server = new ScriptedServer(unreachable());
    const {
      module,
      providers = [],
      ...rest
    } = FeatureFlagsModule.forRoot({
      options: optionsFor(server, quick),
      required,
    });
    const client = FeatureFlagsClient.fromSnapshot({
      version: 1,
      flags: [{ key: "fixed", enabled: true, reason: "flag_enabled", targeted: false }],
    });
    // `overrideProvider()` of `@nestjs/testing` replaces a provider in the same way.
    const override = { provide: getFeatureFlagsToken(), useValue: client };
    const overridden = { module, ...rest, providers: [...providers, override] };
    const { app, get } = await start({ imports: [overridden], controllers: [Readers] });
    expect(await get("/")).toEqual({ status: 200, body: [true, true, true] });
    expect(server.requests).toEqual([]);
    await app.close();
    expect(client.isEnabled("fixed")).toBe(true);
  });
});
