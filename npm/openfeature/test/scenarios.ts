import { FeatureFlagsClient } from "@pennon/core";
import { expect, vi } from "vitest";
import { clientFor, readyClient } from "../../test-kit/clients.ts";
import {
  configuration,
  document,
  flag,
  flagWithRollout,
  flagWithRule,
  held,
  optionsFor,
  ScriptedServer,
  unreachable,
} from "../../test-kit/scripted.ts";
import { FALLBACKS, type Kind, type Start } from "./application.ts";

interface Scenario {
  readonly name: string;
  readonly run: (start: Start) => Promise<void>;
}

const FLAGS = [
  flag("on"),
  flag("off", false),
  flagWithRule("ruled", "FR"),
  flagWithRule("for_others", "DE"),
  flagWithRollout("nobody", 0),
  flagWithRollout("everybody", 100),
];

const one = { retries: 1, retryDelayMs: 1 };

/** Returns a ready client for an application. Its server has all kinds of flags. */
async function ready(server = new ScriptedServer(configuration(FLAGS))) {
  const client = await readyClient(server, one);
  return { server, client };
}

/** The scenarios that a provider must pass in every SDK. */
export const SCENARIOS: readonly Scenario[] = [
  {
    name: "becomes ready, with an event, when it has flags",
    async run(start) {
      const { answer, release } = held();
      const server = new ScriptedServer(answer);
      const app = await start(optionsFor(server));
      await server.requested(1);
      expect(app.status()).toBe("NOT_READY");
      expect(await app.evaluate("on", "boolean")).toMatchObject({
        value: false,
        reason: "ERROR",
        errorCode: "PROVIDER_NOT_READY",
      });
      expect(app.events.list).toEqual([]);
      await app.process(() => release(configuration(FLAGS)));
      expect(await app.events.received(1)).toEqual(["READY"]);
      expect(app.status()).toBe("READY");
      expect((await app.evaluate("on", "boolean")).value).toBe(true);
      expect(server.requests).toHaveLength(1);
      await app.close();
    },
  },
  {
    name: "reports missing flags, and is ready when its client is",
    async run(start) {
      const server = new ScriptedServer(unreachable());
      const client = clientFor(server, one);
      const app = await start(client);
      expect(await app.events.received(1)).toEqual(["ERROR"]);
      expect(app.status()).toBe("ERROR");
      expect(await app.evaluate("on", "true")).toMatchObject({
        value: true,
        errorCode: "PROVIDER_NOT_READY",
      });
      server.respondWith(configuration(FLAGS));
      await app.process(() => client.initialize());
      expect(await app.events.received(2)).toEqual(["ERROR", "READY"]);
      expect(app.status()).toBe("READY");
      expect((await app.evaluate("on")).value).toBe(true);
      await app.close();
    },
  },
  {
    name: "translates every reason",
    async run(start) {
      const { client } = await ready();
      const app = await start(client);
      await app.events.received(1);
      await app.setContext({ targetingKey: "ada", country: "FR" });
      const answers = [
        ["on", true, "STATIC", "flag_enabled"],
        ["off", false, "DISABLED", "flag_disabled"],
        ["ruled", false, "TARGETING_MATCH", "targeting_rule"],
        ["for_others", true, "DEFAULT", "flag_enabled"],
        ["nobody", false, "SPLIT", "rollout"],
        ["everybody", true, "SPLIT", "rollout"],
      ] as const;
      for (const [key, value, word, reason] of answers) {
        const answer = await app.evaluate(key, value ? "boolean" : "true");
        const variant = value ? "on" : "off";
        expect(answer).toMatchObject({ value, variant, reason: word, flagMetadata: { reason } });
        expect(answer.errorCode).toBeUndefined();
      }
      await app.close();
    },
  },
  {
    name: "fails to evaluate a flag that needs a newer package",
    async run(start) {
      const newer = { ...flagWithRollout("newer", 50), rollout: { strategy: "per_device" } };
      const { client } = await ready(new ScriptedServer(document({ flags: [newer] })));
      const app = await start(client);
      await app.events.received(1);
      expect(await app.evaluate("newer", "true")).toMatchObject({
        value: true,
        reason: "ERROR",
        errorCode: "PARSE_ERROR",
      });
      await app.close();
    },
  },
  {
    name: "uses the client's fallbacks for a missing flag",
    async run(start) {
      const server = new ScriptedServer(configuration([]));
      const app = await start(optionsFor(server, { fallbacks: { absent: true } }));
      await app.events.received(1);
      expect(await app.evaluate("absent")).toMatchObject({
        value: true,
        reason: "DEFAULT",
        flagMetadata: { reason: "fallback" },
      });
      await app.close();
    },
  },
  {
    name: "evaluates a flag only as a boolean",
    async run(start) {
      const { client } = await ready();
      const app = await start(client);
      await app.events.received(1);
      for (const kind of ["string", "number", "object"] as const satisfies readonly Kind[]) {
        expect(await app.evaluate("on", kind)).toMatchObject({
          value: FALLBACKS[kind],
          reason: "ERROR",
          errorCode: "TYPE_MISMATCH",
        });
        expect(await app.evaluate("unknown", kind)).toMatchObject({
          value: FALLBACKS[kind],
          errorCode: "FLAG_NOT_FOUND",
        });
      }
      await app.close();
    },
  },
  {
    name: "reports FLAG_NOT_FOUND for a missing flag",
    async run(start) {
      const { client } = await ready();
      const app = await start(client);
      await app.events.received(1);
      for (const kind of ["boolean", "true"] as const) {
        const answer = await app.evaluate("unknown", kind);
        expect(answer).toMatchObject({
          value: FALLBACKS[kind],
          reason: "ERROR",
          errorCode: "FLAG_NOT_FOUND",
        });
        expect(answer.errorMessage).toContain("unknown");
      }
      await app.close();
    },
  },
  {
    name: "reports which flags have changed",
    async run(start) {
      const { client, server } = await ready();
      const app = await start(client);
      await app.events.received(1);
      expect((await app.evaluate("on")).value).toBe(true);
      server.respondWith(configuration([flag("on", false), ...FLAGS.slice(1)], 'W/"2"'));
      await app.process(() => client.refresh());
      expect(await app.events.received(2)).toEqual(["READY", "CONFIGURATION_CHANGED on"]);
      expect(await app.evaluate("on")).toMatchObject({ value: false, reason: "DISABLED" });
      await app.close();
    },
  },
  {
    name: "is stale while the server is down, keeps evaluating, and reports when it is back",
    async run(start) {
      const { client, server } = await ready();
      const app = await start(client);
      await app.events.received(1);
      server.respondWith(unreachable());
      await app.process(() => expect(client.refresh()).rejects.toThrow());
      expect(await app.events.received(2)).toEqual(["READY", "STALE"]);
      expect(app.status()).toBe("STALE");
      expect(await app.evaluate("on")).toMatchObject({ value: true, reason: "STATIC" });
      server.respondWith(configuration(FLAGS));
      await app.process(() => client.refresh());
      expect(await app.events.received(3)).toEqual(["READY", "STALE", "READY"]);
      expect(app.status()).toBe("READY");
      await app.process(() => client.refresh());
      expect(app.events.list).toHaveLength(3);
      await app.close();
    },
  },
  {
    name: "evaluates for another context as soon as it changes",
    async run(start) {
      const { client, server } = await ready();
      const app = await start(client);
      await app.events.received(1);
      const answers = [];
      for (const country of ["FR", "GB", "FR"]) {
        await app.setContext({ targetingKey: "ada", country });
        answers.push((await app.evaluate("ruled")).value);
      }
      expect(answers).toEqual([false, true, false]);
      await app.setContext({});
      expect(await app.evaluate("everybody", "true")).toMatchObject({
        value: false,
        reason: "SPLIT",
      });
      expect(server.requests).toHaveLength(1);
      await app.close();
    },
  },
  {
    name: "rejects a context that the server would reject, and accepts the next one",
    async run(start) {
      const { client } = await ready();
      const app = await start(client);
      await app.events.received(1);
      await app.setContext({ userId: 7, country: "FR" });
      const answer = await app.evaluate("ruled", "true");
      expect(answer).toMatchObject({ value: true, reason: "ERROR", errorCode: "INVALID_CONTEXT" });
      expect(answer.errorMessage).toBe("userId must be a string");
      await app.setContext({ userId: "7", country: "FR" });
      expect(await app.evaluate("ruled", "true")).toMatchObject({ value: false });
      expect(app.status()).toBe("READY");
      await app.close();
    },
  },
  {
    name: "runs the application's hooks, and accepts tracked events",
    async run(start) {
      const { client, server } = await ready();
      const app = await start(client);
      await app.events.received(1);
      const stages: string[] = [];
      app.addHook({
        before: ({ flagKey }) => void stages.push(`before ${flagKey}`),
        after: ({ flagKey }, { variant }) => void stages.push(`after ${flagKey} ${variant}`),
        error: ({ flagKey }) => void stages.push(`error ${flagKey}`),
        finally: ({ flagKey }) => void stages.push(`finally ${flagKey}`),
      });
      await app.evaluate("on");
      expect(stages.slice(0, 3)).toEqual(["before on", "after on on", "finally on"]);
      stages.length = 0;
      await app.evaluate("unknown");
      expect(stages.slice(0, 3)).toEqual(["before unknown", "error unknown", "finally unknown"]);
      app.track("bought");
      expect(server.requests).toHaveLength(1);
      await app.close();
    },
  },
  {
    name: "does not shut down the application's client when it is closed",
    async run(start) {
      const { client } = await ready();
      const app = await start(client);
      await app.events.received(1);
      await app.close();
      expect(client.isReady()).toBe(true);
      await client.refresh();
      await client.shutdown();
    },
  },
  {
    name: "shuts down its own client when it is closed",
    async run(start) {
      const aborted: boolean[] = [];
      const server = new ScriptedServer(
        (request) =>
          new Promise((_, reject) => {
            request.signal.addEventListener("abort", () => {
              aborted.push(true);
              reject(request.signal.reason);
            });
          }),
      );
      const app = await start(optionsFor(server));
      await server.requested(1);
      await app.close();
      expect(aborted).toEqual([true]);
    },
  },
  {
    name: "reports a fatal error when the application shuts down its client",
    async run(start) {
      const { client } = await ready();
      const app = await start(client);
      await app.events.received(1);
      await app.process(() => client.shutdown());
      expect(await app.events.received(2)).toEqual(["READY", "ERROR"]);
      expect(app.status()).toBe("FATAL");
      const fatal = { value: true, errorCode: "PROVIDER_FATAL" };
      expect(await app.evaluate("on", "true")).toMatchObject(fatal);
      await app.setContext({ targetingKey: "ada" });
      expect(await app.evaluate("on", "true")).toMatchObject(fatal);
      await app.close();
    },
  },
  {
    name: "reports a fatal error if the application has shut down its client before",
    async run(start) {
      const { client } = await ready();
      await client.shutdown();
      const app = await start(client);
      expect(await app.events.received(1)).toEqual(["ERROR"]);
      expect(app.status()).toBe("FATAL");
      expect(await app.evaluate("on", "true")).toMatchObject({
        value: true,
        errorCode: "PROVIDER_FATAL",
      });
      await app.close();
    },
  },
  {
    name: "reports a fatal error if the application shuts down its client during the start",
    async run(start) {
      const client = new FeatureFlagsClient(optionsFor(new ScriptedServer(held().answer)));
      const app = await start(client);
      await app.process(() => client.shutdown());
      expect(await app.events.received(1)).toContain("ERROR");
      await vi.waitFor(() => expect(app.status()).toBe("FATAL"));
      await app.close();
    },
  },
];
