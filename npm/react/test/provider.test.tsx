import { type FeatureFlagsClient, VERSION } from "@pennon/core";
import { FeatureFlagsProvider, useFlagsStatus } from "@pennon/react";
import * as React from "react";
import { act, type ReactNode, StrictMode } from "react";
import { renderToString } from "react-dom/server";
import { afterEach, describe, expect, it, vi } from "vitest";
import { clientFor } from "../../test-kit/clients.ts";
import {
  configuration,
  flag,
  flagWithRollout,
  flagWithRule,
  optionsFor,
  ScriptedServer,
  status,
  unreachable,
} from "../../test-kit/scripted.ts";
import { Client, Flag, ready, render } from "./support.tsx";

afterEach(() => {
  vi.useRealTimers();
});

/** Mounts a provider with options, waits for its first fetch, and returns the clients that it created. */
async function mounted(
  server: ScriptedServer,
  wrap: (element: ReactNode) => ReactNode = (element) => element,
) {
  const clients = new Set<FeatureFlagsClient>();
  const show = (name: string) =>
    wrap(
      <FeatureFlagsProvider options={optionsFor(server)}>
        <Flag name={name} />
        <Client give={(client) => clients.add(client)} />
      </FeatureFlagsProvider>,
    );
  const page = await render(show("banner"));
  const [client] = clients;
  await act(async () => client?.initialize());
  return { page, clients, show };
}

describe("a provider with options", () => {
  it("creates a client, and shuts it down when it is unmounted", async () => {
    const server = new ScriptedServer(configuration([flag("banner")]));
    const { page, clients } = await mounted(server);
    const [client] = clients;
    expect(page.text()).toBe("banner is on.");
    expect(client?.isReady()).toBe(true);
    await page.unmount();
    expect(client?.isReady()).toBe(false);
    await expect(client?.initialize()).rejects.toThrow("shut down");
    expect(server.requests).toHaveLength(1);
  });

  it("names this package in the requests of its client", async () => {
    const server = new ScriptedServer(configuration([flag("banner")]));
    await mounted(server);
    expect(server.requests[0]?.headers["X-Pennon-Client"]).toBe(`@pennon/react/${VERSION}`);
  });

  it("keeps its client while it is mounted, whatever object the options are", async () => {
    const server = new ScriptedServer(configuration([flag("banner"), flag("other")]));
    const { page, clients, show } = await mounted(server);
    await page.rerender(show("other"));
    expect(page.text()).toBe("other is on.");
    expect(clients.size).toBe(1);
    expect(server.requests).toHaveLength(1);
  });

  it("fetches once in StrictMode, which mounts twice, and leaves no client behind", async () => {
    const server = new ScriptedServer(configuration([flag("banner")]));
    const strict = (element: ReactNode) => <StrictMode>{element}</StrictMode>;
    const { page, clients } = await mounted(server, strict);
    expect(page.text()).toBe("banner is on.");
    expect(server.requests).toHaveLength(1);
    await page.unmount();
    expect([...clients].map((client) => client.isReady())).not.toContain(true);
  });

  it("has another client when it is shown again after it was hidden", async () => {
    const Activity = Reflect.get(React, "Activity");
    if (Activity === undefined) {
      return; // React 18 does not hide.
    }
    const server = new ScriptedServer(configuration([flag("banner")]));
    let mode: "visible" | "hidden" = "visible";
    const wrap = (element: ReactNode) => <Activity mode={mode}>{element}</Activity>;
    const { page, clients, show } = await mounted(server, wrap);
    mode = "hidden";
    await page.rerender(show("banner"));
    mode = "visible";
    await page.rerender(show("banner"));
    const [first, second] = clients;
    await act(async () => second?.initialize());
    expect([first?.isReady(), second?.isReady()]).toEqual([false, true]);
    expect(page.text()).toBe("banner is on.");
  });

  it("reports that the server is down, and recovers when it is back", async () => {
    vi.useFakeTimers();
    const server = new ScriptedServer(unreachable());
    function Status() {
      return <>{JSON.stringify([useFlagsStatus().ready, useFlagsStatus().error?.code])}</>;
    }
    const page = await render(
      <FeatureFlagsProvider options={optionsFor(server)}>
        <Status />
        <Flag name="banner" />
      </FeatureFlagsProvider>,
    );
    await act(() => vi.advanceTimersByTimeAsync(20_000));
    expect(page.text()).toBe('[false,"INITIALIZATION_FAILED"]banner is off.');
    server.respondWith(configuration([flag("banner")]));
    await act(() => vi.advanceTimersByTimeAsync(40_000));
    expect(page.text()).toBe("[true,null]banner is on.");
    await page.unmount();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("sends no request after it is unmounted", async () => {
    vi.useFakeTimers();
    const server = new ScriptedServer(status(401));
    const page = await render(<FeatureFlagsProvider options={optionsFor(server)} />);
    await act(() => vi.advanceTimersByTimeAsync(1_000));
    await page.unmount();
    const { length } = server.requests;
    await vi.advanceTimersByTimeAsync(600_000);
    expect(server.requests).toHaveLength(length);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("names an invalid option", () => {
    const refused = expect.objectContaining({ code: "INVALID_OPTIONS" });
    expect(() => renderToString(<FeatureFlagsProvider options={{ sdkKey: "" }} />)).toThrow(
      refused,
    );
    const nothing = {} as { client: FeatureFlagsClient };
    expect(() => renderToString(<FeatureFlagsProvider {...nothing} />)).toThrow(refused);
  });
});

describe("a provider with a client", () => {
  it("does not rename its client in requests", async () => {
    const { server } = await ready([flag("banner")]);
    expect(server.requests[0]?.headers["X-Pennon-Client"]).toBe(`@pennon/core/${VERSION}`);
  });

  it("neither starts nor shuts it down", async () => {
    const server = new ScriptedServer(configuration([flag("banner")]));
    const client = clientFor(server);
    const page = await render(<FeatureFlagsProvider client={client} />);
    expect(server.requests).toHaveLength(0);
    await client.initialize();
    await page.unmount();
    expect(client.isReady()).toBe(true);
    await client.shutdown();
  });

  it("switches to another client", async () => {
    const { client: one } = await ready([flag("banner")]);
    const { client: other } = await ready([flag("banner", false)]);
    const show = (client: FeatureFlagsClient) => (
      <FeatureFlagsProvider client={client}>
        <Flag name="banner" />
      </FeatureFlagsProvider>
    );
    const page = await render(show(one));
    await page.rerender(show(other));
    expect(page.text()).toBe("banner is off.");
  });
});

describe("the context", () => {
  it("determines evaluations without a request, also when it changes", async () => {
    const { client, server } = await ready([
      flagWithRule("ruled", "FR"),
      flagWithRollout("rolled_out", 64),
    ]);
    const show = (userId: string, country: string) => (
      <FeatureFlagsProvider client={client} context={{ userId, country }}>
        <Flag name="ruled" />
        <Flag name="rolled_out" />
      </FeatureFlagsProvider>
    );
    // The bucket of "ada" is 63, that of "linus" 72.
    const page = await render(show("ada", "GB"));
    expect(page.text()).toBe("ruled is on.rolled_out is on.");
    await page.rerender(show("linus", "FR"));
    expect(page.text()).toBe("ruled is off.rolled_out is off.");
    expect(server.requests).toHaveLength(1);
  });

  it("is recognized as new when its object was modified in place", async () => {
    const { client } = await ready([flagWithRollout("rolled_out", 64)]);
    const context = { userId: "ada" };
    const show = () => (
      <FeatureFlagsProvider client={client} context={context}>
        <Flag name="rolled_out" />
      </FeatureFlagsProvider>
    );
    const page = await render(show());
    context.userId = "linus";
    await page.rerender(show());
    expect(page.text()).toBe("rolled_out is off.");
  });

  it("may be anything without making a render fail", async () => {
    const { client } = await ready([flagWithRule("ruled", "FR")]);
    const circle: Record<string, unknown> = { big: 1n, text: "FR" };
    circle.itself = circle;
    for (const context of [null, circle, { customAttributes: circle }, "FR", { userId: 3 }]) {
      const page = await render(
        <FeatureFlagsProvider client={client} context={context as object}>
          <Flag name="ruled" />
        </FeatureFlagsProvider>,
      );
      expect(page.text()).toBe("ruled is on.");
    }
  });

  it("is separate for each provider, even with the same client", async () => {
    const { client } = await ready([flagWithRule("ruled", "FR")]);
    const page = await render(
      <FeatureFlagsProvider client={client} context={{ country: "FR" }}>
        <Flag name="ruled" />
        <FeatureFlagsProvider client={client} context={{ country: "GB" }}>
          <Flag name="ruled" />
        </FeatureFlagsProvider>
      </FeatureFlagsProvider>,
    );
    expect(page.text()).toBe("ruled is off.ruled is on.");
  });
});
