import type { FeatureFlagsClient } from "@pennon/core";
import { FeatureFlagsProvider } from "@pennon/react";
import * as React from "react";
import { act, StrictMode } from "react";
import { renderToString } from "react-dom/server";
import { describe, expect, it, vi } from "vitest";
import { ada, bob, readyClient } from "../../test-kit/clients.ts";
import { EvaluatingServer } from "../../test-kit/evaluating.ts";
import { held, optionsFor } from "../../test-kit/scripted.ts";
import { Client, Flag, hydrate, render } from "./support.tsx";

// React 18 does not hide.
const Activity = Reflect.get(React, "Activity");

/** Returns a provider with options for remote mode, and the client that it creates. */
function providerOf(server: EvaluatingServer, more: object = {}) {
  let created: FeatureFlagsClient | undefined;
  const options = { ...optionsFor(server), mode: "remote" as const, ...more };
  const give = (client: FeatureFlagsClient) => {
    created = client;
  };
  return {
    client: () => created,
    show: (context?: object) => (
      <FeatureFlagsProvider options={options} context={context}>
        <Flag name="beta" />
        <Client give={give} />
      </FeatureFlagsProvider>
    ),
  };
}

describe("a provider in remote mode", () => {
  it("asks once for its context, and again when that changes", async () => {
    const server = new EvaluatingServer();
    const { show, client } = providerOf(server);
    const page = await render(<StrictMode>{show(ada)}</StrictMode>);
    await act(async () => client()?.initialize());
    expect(page.text()).toBe("beta is on.");
    expect(server.bodies).toEqual([{ context: ada }]);
    const late = held();
    server.respondWith(late.answer);
    await page.rerender(<StrictMode>{show(bob)}</StrictMode>);
    await server.requested(2);
    expect(page.text()).toBe("beta is on.");
    await act(() => late.release((request) => server.respond(request)));
    await act(async () => client()?.setContext(bob));
    expect(page.text()).toBe("beta is off.");
    await page.rerender(<StrictMode>{show({ ...bob })}</StrictMode>);
    expect(server.bodies).toEqual([{ context: ada }, { context: bob }]);
  });

  it("asks for no context once it has none any more", async () => {
    const server = new EvaluatingServer();
    const { show, client } = providerOf(server);
    const page = await render(show(ada));
    await act(async () => client()?.initialize());
    expect(page.text()).toBe("beta is on.");
    await page.rerender(show(undefined));
    await server.requested(2);
    expect(server.bodies[1]).toEqual({ context: {} });
    expect(client()?.context).toEqual({});
  });

  it("leaves the context to the options and the client if it has none", async () => {
    const server = new EvaluatingServer();
    const { show, client } = providerOf(server, { context: ada });
    const page = await render(show());
    await act(async () => client()?.initialize());
    expect(page.text()).toBe("beta is on.");
    await act(async () => client()?.setContext(bob));
    expect(page.text()).toBe("beta is off.");
  });

  it.skipIf(Activity === undefined)(
    "keeps the context that was set on its client when it is shown again",
    async () => {
      const server = new EvaluatingServer();
      const { show, client } = providerOf(server, { context: bob });
      const view = (mode: "visible" | "hidden") => <Activity mode={mode}>{show()}</Activity>;
      const page = await render(view("visible"));
      await act(async () => client()?.initialize());
      expect(page.text()).toBe("beta is off.");
      await act(async () => client()?.setContext(ada));
      const before = client();
      await page.rerender(view("hidden"));
      await page.rerender(view("visible"));
      await vi.waitFor(() => expect(client()).not.toBe(before));
      await act(async () => client()?.refresh());
      expect(client()?.context).toEqual(ada);
      expect(server.bodies.at(-1)).toEqual({ context: ada });
      expect(page.text()).toBe("beta is on.");
    },
  );

  it("accepts a client, and passes its context on", async () => {
    const server = new EvaluatingServer();
    const client = await readyClient(server, { mode: "remote", context: ada });
    const show = (context?: object) => (
      <FeatureFlagsProvider client={client} context={context}>
        <Flag name="beta" />
      </FeatureFlagsProvider>
    );
    const page = await render(show());
    expect(page.text()).toBe("beta is on.");
    await page.rerender(show(bob));
    await act(() => client.setContext(bob));
    expect(page.text()).toBe("beta is off.");
    expect(server.requests).toHaveLength(2);
  });

  it("keeps the previous values if the new context cannot be fetched", async () => {
    const server = new EvaluatingServer();
    const { show, client } = providerOf(server, { retries: 1, retryDelayMs: 1 });
    const page = await render(show(ada));
    await act(async () => client()?.initialize());
    server.fail(400);
    await page.rerender(show(bob));
    await act(async () =>
      client()
        ?.setContext(bob)
        .catch(() => {}),
    );
    expect(page.text()).toBe("beta is on.");
    server.recover();
    await act(async () => client()?.refresh());
    expect(page.text()).toBe("beta is off.");
  });

  it("hydrates with the answers of the server, without a request", async () => {
    const server = new EvaluatingServer();
    const rendering = await readyClient(server, { mode: "remote", context: ada });
    const bootstrap = JSON.parse(JSON.stringify(rendering.snapshot()));
    const { show, client } = providerOf(server, { bootstrap });
    const html = renderToString(show(ada));
    expect(html).toContain("beta is on.");
    server.respondWith(held().answer);
    const page = await hydrate(html, show(ada));
    expect(page.text()).toBe("beta is on.");
    expect(page.complaints).toEqual([]);
    expect(client()?.isReady()).toBe(false);
  });
});
