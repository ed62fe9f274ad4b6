import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Inject,
  Logger,
  Param,
  UseGuards,
} from "@nestjs/common";
import { APP_PIPE } from "@nestjs/core";
import type { FeatureFlagsClient } from "@pennon/core";
import {
  FeatureFlags,
  FeatureFlagsModule,
  FlagValue,
  getFeatureFlagsToken,
  InjectFeatureFlags,
  InjectRequestFlags,
  RequireFlag,
} from "@pennon/nest";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { clientFor } from "../../test-kit/clients.ts";
import {
  configuration,
  flag,
  flagWithRule,
  optionsFor,
  ScriptedServer,
} from "../../test-kit/scripted.ts";
import { ADAPTERS, fromHeaders, type Request, start } from "./application.ts";

const flags = () =>
  optionsFor(
    new ScriptedServer(
      configuration([flagWithRule("not_in_fi", "FI"), flag("on"), flag("off", false)]),
    ),
  );

@Controller("guarded")
class Guarded {
  @Get("by-country")
  @RequireFlag("not_in_fi")
  byCountry() {
    return ["let through"];
  }

  @Get("teapot")
  @RequireFlag("off", { status: 418 })
  teapot() {
    return ["let through"];
  }

  @Get("unknown")
  @RequireFlag("no_such_flag")
  unknown() {
    return ["let through"];
  }

  @Get("both")
  @RequireFlag("on")
  @RequireFlag("not_in_fi", { status: 403 })
  both() {
    return ["let through"];
  }
}

@Controller("whole")
@RequireFlag("not_in_fi")
class Whole {
  @Get()
  any() {
    return ["let through"];
  }
}

@Controller("values")
class Values {
  @Get("several/:id")
  several(
    @Param("id") id: string,
    @FlagValue("not_in_fi") byRule: boolean,
    @FlagValue("off") off: boolean,
    @FlagValue("no_such_flag") unknown: boolean,
    @FlagValue("no_such_flag", { fallback: true }) fallback: boolean,
  ) {
    return { id, byRule, off, unknown, fallback };
  }
}

class Inherited extends Values {}
Controller("inherited")(Inherited);

@Controller("service")
class Service {
  readonly #flags: FeatureFlags;

  constructor(@Inject(FeatureFlags) flags: FeatureFlags) {
    this.#flags = flags;
  }

  @Get()
  all() {
    return {
      context: this.#flags.context,
      enabled: this.#flags.isEnabled("not_in_fi"),
      read: this.#flags.read("not_in_fi"),
      unknown: [this.#flags.read("no_such_flag"), this.#flags.isEnabled("no_such_flag", true)],
      keys: Object.keys(this.#flags.readAll()),
      inherited: typeof this.#flags.readAll().constructor,
    };
  }
}

describe.each(ADAPTERS)("with %s", (adapter) => {
  const application = () =>
    start(
      {
        imports: [FeatureFlagsModule.forRoot({ options: flags(), context: fromHeaders })],
        controllers: [Guarded, Whole, Values, Inherited, Service],
      },
      adapter,
    );

  it("a guard evaluates for the context of the request", async () => {
    const { get } = await application();
    for (const path of ["/guarded/by-country", "/guarded/both", "/whole"]) {
      expect(await get(path, "GB")).toEqual({ status: 200, body: ["let through"] });
    }
    expect(await get("/guarded/by-country", "FI")).toMatchObject({ status: 404 });
    expect(await get("/guarded/both", "FI")).toMatchObject({ status: 403 });
    expect(await get("/whole", "FI")).toMatchObject({ status: 404 });
  });

  it("a guarded route looks as if it did not exist, including the query", async () => {
    const { get } = await application();
    const { body: missing } = await get("/no-such/route?a=1");
    const { body } = await get("/guarded/unknown?a=1");
    const expected = JSON.stringify(missing).replace("/no-such/route", "/guarded/unknown");
    expect(body).toEqual(JSON.parse(expected));
  });

  it("a guard responds with the given status", async () => {
    const { get } = await application();
    expect(await get("/guarded/teapot")).toEqual({
      status: 418,
      body: { statusCode: 418, message: "Not available" },
    });
  });

  it("parameters have the values for the context of the request", async () => {
    const { get } = await application();
    const rest = { id: "7", off: false, unknown: false, fallback: true };
    for (const path of ["/values/several/7", "/inherited/several/7"]) {
      expect((await get(path, "GB")).body).toEqual({ ...rest, byRule: true });
      expect((await get(path, "FI")).body).toEqual({ ...rest, byRule: false });
    }
  });

  it("the service is bound to its request, even with concurrent requests", async () => {
    const { get } = await application();
    const countries = Array.from({ length: 20 }, (_, at) => (at % 2 ? "FI" : "GB"));
    const answers = await Promise.all(countries.map((country) => get("/service", country)));
    expect(answers.map(({ body }) => body)).toEqual(
      countries.map((country) => ({
        context: { country },
        enabled: country === "GB",
        read: {
          enabled: country === "GB",
          reason: country === "GB" ? "flag_enabled" : "targeting_rule",
        },
        unknown: [null, true],
        keys: expect.arrayContaining(["not_in_fi", "off", "on"]),
        inherited: "undefined",
      })),
    );
  });

  it("the resolver sees the properties that earlier guards have set on the request", async () => {
    class SignIn implements CanActivate {
      canActivate(execution: ExecutionContext): boolean {
        execution.switchToHttp().getRequest<Request>().user = { id: "ada" };
        return true;
      }
    }

    @Controller()
    class Me {
      readonly #flags: FeatureFlags;

      constructor(@Inject(FeatureFlags) flags: FeatureFlags) {
        this.#flags = flags;
      }

      @Get()
      @UseGuards(SignIn)
      me() {
        return this.#flags.context;
      }
    }
    const context = ({ user }: Request) => ({ userId: user?.id });
    const { get } = await start(
      { imports: [FeatureFlagsModule.forRoot({ options: flags(), context })], controllers: [Me] },
      adapter,
    );
    expect((await get("/")).body).toEqual({ userId: "ada" });
  });

  it("flags are off, and nothing fails, if the resolver throws, which is logged", async () => {
    const error = vi.spyOn(Logger.prototype, "error");
    onTestFinished(() => error.mockRestore());
    const context = () => {
      throw new Error("no session");
    };
    const { get } = await start(
      {
        imports: [FeatureFlagsModule.forRoot({ options: flags(), context })],
        controllers: [Guarded, Values, Service],
      },
      adapter,
    );
    expect(await get("/guarded/by-country")).toMatchObject({ status: 404 });
    expect(await get("/values/several/7")).toMatchObject({
      status: 200,
      body: { byRule: false, fallback: true },
    });
    expect((await get("/service")).body).toEqual({
      enabled: false,
      unknown: [null, true],
      keys: [],
      inherited: "undefined",
    });
    expect(error).toHaveBeenCalledWith(expect.stringContaining("no session"));
  });

  it("flags are off if the resolver returns a promise, which is logged", async () => {
    const error = vi.spyOn(Logger.prototype, "error");
    const rejected = vi.fn();
    process.on("unhandledRejection", rejected);
    onTestFinished(() => {
      error.mockRestore();
      process.off("unhandledRejection", rejected);
    });
    const context = async ({ headers }: Request) => {
      if (headers["x-country"] === "FI") {
        throw new Error("no session");
      }
      return { country: "GB" };
    };
    const { get } = await start(
      {
        imports: [FeatureFlagsModule.forRoot({ options: flags(), context: context as never })],
        controllers: [Guarded, Values],
      },
      adapter,
    );
    for (const country of ["GB", "FI"]) {
      expect(await get("/guarded/by-country", country)).toMatchObject({ status: 404 });
      expect(await get("/values/several/7", country)).toMatchObject({
        status: 200,
        body: { byRule: false, fallback: true },
      });
    }
    expect(error).toHaveBeenCalledWith(expect.stringContaining("returned a promise"));
    expect(rejected).not.toHaveBeenCalled();
  });

  it("named clients are distinguished wherever they are used", async () => {
    @Controller()
    class Several {
      readonly #default: FeatureFlagsClient;
      readonly #shop: FeatureFlagsClient;
      readonly #forRequest: FeatureFlags;

      constructor(
        @InjectFeatureFlags() client: FeatureFlagsClient,
        @InjectFeatureFlags("shop") shop: FeatureFlagsClient,
        @InjectRequestFlags("shop") forRequest: FeatureFlags,
      ) {
        this.#default = client;
        this.#shop = shop;
        this.#forRequest = forRequest;
      }

      @Get()
      @RequireFlag("off", { client: "shop" })
      compare(
        @FlagValue("off") here: boolean,
        @FlagValue("off", { client: "shop" }) inShop: boolean,
      ) {
        const injected = [this.#default, this.#shop].map((client) => client.read("off", {}));
        return [here, inShop, ...injected, this.#forRequest.context];
      }
    }
    const shop = optionsFor(new ScriptedServer(configuration([flag("off")])));
    const { app, get } = await start(
      {
        imports: [
          FeatureFlagsModule.forRoot({ options: flags() }),
          FeatureFlagsModule.forRootAsync({
            name: "shop",
            inject: ["SHOP"],
            imports: [class Shop {}].map((module) => ({
              module,
              providers: [{ provide: "SHOP", useValue: shop }],
              exports: ["SHOP"],
            })),
            useFactory: async (options: typeof shop) => ({ options, context: fromHeaders }),
          }),
        ],
        controllers: [Several],
      },
      adapter,
    );
    expect((await get("/")).body).toEqual([
      false,
      true,
      { enabled: false, reason: "flag_disabled" },
      { enabled: true, reason: "flag_enabled" },
      { country: "GB" },
    ]);
    const clients = [undefined, "shop"].map((name) => app.get(getFeatureFlagsToken(name)));
    expect(clients.map((client) => client.isEnabled("off"))).toEqual([false, true]);
  });

  it("the application's own pipes do not receive the request instead of a flag", async () => {
    @Controller()
    class Piped {
      @Get()
      value(@FlagValue("not_in_fi") value: boolean) {
        return value;
      }
    }
    const given: unknown[] = [];
    const transform = (value: unknown) => {
      given.push(typeof value);
      return value;
    };
    const { get } = await start(
      {
        imports: [FeatureFlagsModule.forRoot({ options: flags(), context: fromHeaders })],
        controllers: [Piped],
        providers: [{ provide: APP_PIPE, useValue: { transform } }],
      },
      adapter,
    );
    expect((await get("/", "FI")).body).toBe(false);
    expect((await get("/")).body).toBe(true);
    expect(given).toEqual(["function", "function"]);
  });
});

describe("two applications in one process", () => {
  it("have separate flags behind the same controller", async () => {
    const one = await start({
      imports: [FeatureFlagsModule.forRoot({ options: flags(), context: fromHeaders })],
      controllers: [Values],
    });
    const client = clientFor(new ScriptedServer(configuration([flag("off")])));
    const other = await start({
      imports: [FeatureFlagsModule.forRoot({ client })],
      controllers: [Values],
    });
    expect((await one.get("/values/several/7")).body).toMatchObject({ byRule: true, off: false });
    expect((await other.get("/values/several/7")).body).toMatchObject({ byRule: false, off: true });
  });
});

describe("a client that is not configured", () => {
  it("fails the start rather than a request", async () => {
    const imports = [FeatureFlagsModule.forRoot({ options: flags(), name: "shop" })];
    await expect(start({ imports, controllers: [Guarded] })).rejects.toThrow(
      /can't resolve dependencies/,
    );
    await expect(start({ imports, controllers: [Values] })).rejects.toThrow(
      /can't resolve dependencies/,
    );
  });
});
