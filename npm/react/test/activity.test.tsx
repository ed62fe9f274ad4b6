import type { FeatureFlagsClientOptions } from "@pennon/core";
import { FeatureFlagsProvider, useFeatureFlagsClient, useFlag } from "@pennon/react";
import * as React from "react";
import { act, StrictMode } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  configuration,
  document,
  type FlagConfig,
  flag,
  flagWithRule,
  held,
  optionsFor,
  ScriptedServer,
  unreachable,
} from "../../test-kit/scripted.ts";
import { render } from "./support.tsx";

// React 18 does not hide.
const Activity = Reflect.get(React, "Activity");

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** Mounts a provider that can be hidden, and waits for its flags. `shown` has every value of the flag, in order. */
async function mounted(
  server: ScriptedServer,
  options: Partial<FeatureFlagsClientOptions> = {},
  isStrict = false,
) {
  const clients = new Set<unknown>();
  const shown: boolean[] = [];
  function Banner() {
    clients.add(useFeatureFlagsClient());
    const isOn = useFlag("banner");
    if (shown.at(-1) !== isOn) {
      shown.push(isOn);
    }
    return <b>{String(isOn)}</b>;
  }
  const Wrapper = isStrict ? StrictMode : React.Fragment;
  const view = (mode: "visible" | "hidden", country = "GB") => (
    <Wrapper>
      <Activity mode={mode}>
        <FeatureFlagsProvider options={optionsFor(server, options)} context={{ country }}>
          <Banner />
        </FeatureFlagsProvider>
      </Activity>
    </Wrapper>
  );
  const page = await render(view("visible"));
  const settle = () => act(() => vi.advanceTimersByTimeAsync(20));
  /** Waits for this number of requests in total, and for the effects of the last one. */
  const requested = async (count: number) => {
    await vi.waitFor(async () => {
      await settle();
      expect(server.requests.length).toBeGreaterThanOrEqual(count);
    });
    await settle();
  };
  await vi.waitFor(async () => {
    await settle();
    expect(page.text()).toBe("true");
  });
  shown.length = 0;
  return {
    page,
    clients,
    shown,
    hide: () => page.rerender(view("hidden")),
    show: (country?: string) => page.rerender(view("visible", country)),
    settle,
    requested,
    pass: (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms)),
  };
}

const on = (...flags: readonly FlagConfig[]) => configuration([flag("banner"), ...flags]);
const ruled = configuration([flagWithRule("banner", "FR")]);
const off = { version: 1, flags: [], subject: { context: {}, flags: [] } } as const;
const bootstrap = { ...off, flags: [{ key: "banner", enabled: false }] } as never;
const quick = { retries: 1, retryDelayMs: 1 };

describe.skipIf(Activity === undefined)("a provider that is hidden and shown again", () => {
  it.each([
    ["without a bootstrap", on(), {}],
    ["with a bootstrap that is outdated", on(), { bootstrap }],
    ["with rules", ruled, {}],
  ])("keeps its flags, and fetches them again, %s", async (_, answer, options) => {
    const server = new ScriptedServer(answer);
    const { page, clients, shown, hide, show, settle, requested } = await mounted(server, options);
    const before = server.requests.length;
    await hide();
    await settle();
    await show();
    await requested(before + 1);
    expect(page.text()).toBe("true");
    expect(shown).toEqual([true]);
    expect(clients.size).toBe(2);
  });

  it("gets the changes that it missed", async () => {
    const server = new ScriptedServer(on());
    const { page, hide, show, settle } = await mounted(server);
    await hide();
    server.respondWith(configuration([flag("banner", false)], 'W/"2"'));
    await settle();
    await show();
    // Without a timer.
    await act(() => server.requested(2));
    await settle();
    expect(page.text()).toBe("false");
  });

  it("keeps them when it is hidden again before it is ready, also in StrictMode", async () => {
    const server = new ScriptedServer(on());
    const { page, shown, hide, show, settle } = await mounted(server, {}, true);
    server.respondWith(held().answer);
    for (let round = 0; round < 3; round += 1) {
      await hide();
      await show();
    }
    await settle();
    expect(page.text()).toBe("true");
    expect(shown).toEqual([true]);
  });

  it("evaluates them for the current context", async () => {
    const server = new ScriptedServer(ruled);
    const { page, hide, show, settle, requested } = await mounted(server);
    await hide();
    await settle();
    await show("FR");
    await requested(2);
    expect(page.text()).toBe("false");
  });

  it.each([
    ["default", "until their TTL has expired and a fetch has failed", {}, "false"],
    ["staleIfError", "for as long as the server is down", { staleIfError: true }, "true"],
  ])("keeps them in an outage with %s %s", async (_, __, options, after) => {
    const server = new ScriptedServer(on());
    const { page, hide, show, pass, requested } = await mounted(server, { ...quick, ...options });
    server.respondWith(unreachable());
    await hide();
    await pass(50_000);
    await show();
    await requested(3);
    expect(page.text()).toBe("true");
    await hide();
    await pass(20_000);
    await show();
    await requested(5);
    expect(page.text()).toBe(after);
  });

  it("counts the age of a flag with its own TTL", async () => {
    const server = new ScriptedServer(
      configuration([flag("banner", true, { ttlOverrideSeconds: 300 })]),
    );
    const { page, hide, show, pass, requested } = await mounted(server, quick);
    server.respondWith(unreachable());
    await hide();
    await pass(200_000);
    await show();
    await requested(3);
    expect(page.text()).toBe("true");
    await pass(110_000);
    expect(page.text()).toBe("false");
  });

  it("keeps its evaluations with a client in remote mode", async () => {
    const flags = [{ key: "banner", enabled: true, reason: "rollout", ttlOverrideSeconds: null }];
    const server = new ScriptedServer(document({ flags }));
    const options = { mode: "remote", ...quick } as const;
    const { page, shown, hide, show, pass, requested } = await mounted(server, options);
    server.respondWith(unreachable());
    await hide();
    await pass(50_000);
    await show();
    await requested(3);
    expect(shown).toEqual([true]);
    await pass(20_000);
    expect(page.text()).toBe("false");
  });
});
