import { Controller, Get, Logger, type OnModuleInit } from "@nestjs/common";
import { FeatureFlagsClient, type TransportRequest, VERSION } from "@pennon/core";
import {
  FeatureFlagsModule,
  FlagValue,
  getFeatureFlagsToken,
  InjectFeatureFlags,
  RequireFlag,
} from "@pennon/nest";
import { afterEach, describe, expect, it, vi } from "vitest";
import { clientFor } from "../../test-kit/clients.ts";
import {
  configuration,
  flag,
  held,
  optionsFor,
  ScriptedServer,
  status,
  unreachable,
} from "../../test-kit/scripted.ts";
import { start } from "./application.ts";

const quick = { retries: 1, retryDelayMs: 0 };

@Controller()
class Flags {
  @Get("guarded")
  @RequireFlag("on")
  guarded() {
    return ["let through"];
  }

  @Get("value")
  value(@FlagValue("on") value: boolean) {
    return [value];
  }
}

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("a start", () => {
  it("has the flags ready before other modules are initialized", async () => {
    const seen: boolean[] = [];
    class Other implements OnModuleInit {
      readonly #client: FeatureFlagsClient;

      constructor(@InjectFeatureFlags() client: FeatureFlagsClient) {
        this.#client = client;
      }

      onModuleInit() {
        seen.push(this.#client.isReady());
      }
    }
    const options = optionsFor(new ScriptedServer(configuration([flag("on")])));
    await start({ imports: [FeatureFlagsModule.forRoot({ options })], providers: [Other] });
    expect(seen).toEqual([true]);
  });

  it("fails with a client that has evaluations for one context only", async () => {
    const options = optionsFor(new ScriptedServer(status(200)), { mode: "remote" });
    const module = FeatureFlagsModule.forRoot({ client: new FeatureFlagsClient(options) });
    await expect(start({ imports: [module] })).rejects.toThrow("for one context");
  });

  it("names this package in the requests of its own client", async () => {
    const server = new ScriptedServer(configuration([flag("on")]));
    await start({ imports: [FeatureFlagsModule.forRoot({ options: optionsFor(server) })] });
    expect(server.requests[0]?.headers["X-Pennon-Client"]).toBe(`@pennon/nest/${VERSION}`);
  });

  it("succeeds with a warning while the server is down: flags are off, or their fallbacks", async () => {
    const warn = vi.spyOn(Logger.prototype, "warn");
    const options = optionsFor(new ScriptedServer(unreachable()), quick);
    const { get } = await start({
      imports: [FeatureFlagsModule.forRoot({ options })],
      controllers: [Flags],
    });
    expect(await get("/guarded")).toMatchObject({ status: 404 });
    expect((await get("/value")).body).toEqual([false]);
    expect(warn).toHaveBeenCalledWith(expect.stringContaining("could not be reached"));
  });

  it("warns of a key that is refused later, once and with the name of the client", async () => {
    const warn = vi.spyOn(Logger.prototype, "warn");
    const server = new ScriptedServer(configuration([flag("on")]), status(401));
    const options = optionsFor(server);
    const { app } = await start({
      imports: [FeatureFlagsModule.forRoot({ name: "billing", options })],
    });
    const client = app.get<FeatureFlagsClient>(getFeatureFlagsToken("billing"));
    for (let refresh = 0; refresh < 2; refresh += 1) {
      await expect(client.refresh()).rejects.toThrow();
    }
    expect(warn.mock.calls).toEqual([[expect.stringContaining("rejected the sdkKey")]]);
    expect(warn.mock.contexts).toEqual([
      expect.objectContaining({ context: "FeatureFlags billing" }),
    ]);
    server.respondWith(configuration([flag("on")]), status(401));
    await client.refresh();
    await expect(client.refresh()).rejects.toThrow();
    expect(warn).toHaveBeenCalledTimes(2);
  });

  it("retries until the server is back", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const server = new ScriptedServer(unreachable());
    const options = optionsFor(server, quick);
    const starting = start({
      imports: [FeatureFlagsModule.forRoot({ options })],
      controllers: [Flags],
    });
    await vi.waitFor(() => vi.advanceTimersByTimeAsync(1).then(() => server.requested(2)));
    const { app, get } = await starting;
    const client = app.get<FeatureFlagsClient>(getFeatureFlagsToken());
    expect(client.isReady()).toBe(false);
    server.respondWith(configuration([flag("on")]));
    const ready = new Promise((resolve) => client.on("ready", resolve));
    await vi.advanceTimersByTimeAsync(30_000);
    await ready;
    vi.useRealTimers();
    expect((await get("/guarded")).status).toBe(200);
  });

  it("waits for optional flags for at most waitMs", async () => {
    const late = held();
    const options = optionsFor(new ScriptedServer(late.answer));
    const { app, get } = await start({
      imports: [FeatureFlagsModule.forRoot({ options, waitMs: 1 })],
      controllers: [Flags],
    });
    expect((await get("/value")).body).toEqual([false]);
    const client = app.get<FeatureFlagsClient>(getFeatureFlagsToken());
    const ready = new Promise((resolve) => client.on("ready", resolve));
    await late.release(configuration([flag("on")]));
    await ready;
    expect((await get("/value")).body).toEqual([true]);
  });

  it.each([undefined, null])("waits for at most five seconds if waitMs is %s", async (waitMs) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const server = new ScriptedServer(held().answer);
    const options = optionsFor(server, { timeoutMs: 60_000 });
    const started = vi.fn();
    const module = FeatureFlagsModule.forRoot({ options, waitMs: waitMs as undefined });
    const starting = start({ imports: [module] }).then(started);
    await server.firstRequest();
    await vi.advanceTimersByTimeAsync(4_900);
    expect(started).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(100);
    await starting;
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1, "5 s"])(
    "fails if waitMs is %s",
    async (waitMs) => {
      const options = optionsFor(new ScriptedServer(configuration([flag("on")])));
      const module = FeatureFlagsModule.forRoot({ options, waitMs: waitMs as number });
      await expect(start({ imports: [module] })).rejects.toThrow(
        "waitMs must be a number of milliseconds, at least 0",
      );
    },
  );

  it("fails without required flags, and leaves nothing running", async () => {
    const emitted: string[] = [];
    const eventEmitter = {
      on: () => {},
      removeAllListeners: () => {},
      emit: (type: string) => void emitted.push(type),
    };
    const server = new ScriptedServer(unreachable());
    const options = optionsFor(server, { ...quick, eventEmitter: eventEmitter as never });
    await expect(
      start({ imports: [FeatureFlagsModule.forRoot({ options, required: true })] }),
    ).rejects.toMatchObject({ code: "INITIALIZATION_FAILED" });
    expect(emitted.at(-1)).toBe("shutdown");
  });

  it("does not shut down the application's client if required flags are missing", async () => {
    const client = clientFor(new ScriptedServer(status(401), configuration([flag("on")])));
    await expect(
      start({ imports: [FeatureFlagsModule.forRoot({ client, required: true })] }),
    ).rejects.toMatchObject({ code: "INITIALIZATION_FAILED" });
    await client.initialize();
    expect(client.isEnabled("on")).toBe(true);
  });

  it("needs a client, or options for one", async () => {
    await expect(start({ imports: [FeatureFlagsModule.forRoot({})] })).rejects.toThrow(
      "FeatureFlagsModule has neither options nor a client",
    );
  });
});

describe("the end of an application", () => {
  it("shuts down the module's own client", async () => {
    const options = optionsFor(new ScriptedServer(configuration([flag("on")])));
    const { app } = await start({ imports: [FeatureFlagsModule.forRoot({ options })] });
    const client = app.get<FeatureFlagsClient>(getFeatureFlagsToken());
    expect(client.isReady()).toBe(true);
    await app.close();
    expect(client.isReady()).toBe(false);
  });

  it("waits for the last usage report", async () => {
    const late = held();
    const on = configuration([flag("on")]);
    const server = new ScriptedServer((request: TransportRequest) =>
      request.url.endsWith("/usage") ? late.answer(request) : on(request),
    );
    const options = optionsFor(server, { reportUsage: true });
    const { app } = await start({ imports: [FeatureFlagsModule.forRoot({ options })] });
    app.get<FeatureFlagsClient>(getFeatureFlagsToken()).isEnabled("on");
    const closed = vi.fn();
    const closing = app.close().then(closed);
    await server.requested(2);
    await new Promise((resolve) => setImmediate(resolve));
    expect(closed).not.toHaveBeenCalled();
    await late.release(status(204));
    await closing;
  });

  it("does not shut down the application's client, which it has initialized", async () => {
    const client = clientFor(new ScriptedServer(configuration([flag("on")])));
    const { app } = await start({ imports: [FeatureFlagsModule.forRoot({ client })] });
    await app.close();
    expect(client.read("on", {})).toEqual({ enabled: true, reason: "flag_enabled" });
  });
});
