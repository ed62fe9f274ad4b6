import { FeatureFlagsClient } from "@pennon/core";
import { FeatureFlagsProvider } from "@pennon/react";
import { act } from "react";
import { renderToString } from "react-dom/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { document, held, optionsFor, ScriptedService } from "../../core/test/scripted.ts";
import { Flag, hydrate, render } from "./support.tsx";

const ada = { userId: "ada" };
const ben = { userId: "ben" };

function answer(enabled: boolean, etag: string) {
  const flag = { key: "banner", enabled, reason: "rollout", ttlOverrideSeconds: null };
  return document({ flags: [flag] }, etag);
}

const on = answer(true, 'W/"1.a"');
const off = answer(false, 'W/"1.b"');

function remote(service: ScriptedService) {
  return optionsFor(service, { mode: "remote" });
}

describe("a provider with a client in the mode remote", () => {
  it("asks for its context, and shows the previous values until new ones arrive", async () => {
    const late = held();
    const service = new ScriptedService(on, late.answer);
    const options = remote(service);
    const show = (context: object) => (
      <FeatureFlagsProvider options={options} context={context}>
        <Flag name="banner" />
      </FeatureFlagsProvider>
    );
    const page = await render(show(ada));
    await act(() => service.requested(1));
    await act(async () => {});
    expect(page.text()).toBe("banner is on.");
    expect(service.requests).toHaveLength(1);
    expect(service.requests[0]?.body).toContain('"userId":"ada"');
    await page.rerender(show({ ...ada }));
    expect(service.requests).toHaveLength(1);

    await page.rerender(show(ben));
    await act(() => service.requested(2));
    expect(service.requests[1]?.body).toContain('"userId":"ben"');
    expect(page.text()).toBe("banner is on.");
    await act(() => late.release(off));
    expect(page.text()).toBe("banner is off.");
  });

  it("sets the context of a client that the application owns", async () => {
    const service = new ScriptedService(on, off);
    const client = new FeatureFlagsClient(remote(service));
    await client.initialize();
    onTestFinished(() => client.shutdown());
    const page = await render(
      <FeatureFlagsProvider client={client} context={ben}>
        <Flag name="banner" />
      </FeatureFlagsProvider>,
    );
    await act(() => service.requested(2));
    expect(service.requests[1]?.body).toContain('"userId":"ben"');
    expect(page.text()).toBe("banner is off.");
  });

  it("renders the evaluations of the server first", async () => {
    const server = new FeatureFlagsClient({ ...remote(new ScriptedService(on)), context: ada });
    await server.initialize();
    const bootstrap = JSON.parse(JSON.stringify(server.snapshot()));
    await server.shutdown();
    const service = new ScriptedService(off);
    const page = (
      <FeatureFlagsProvider options={remote(service)} bootstrap={bootstrap}>
        <Flag name="banner" />
      </FeatureFlagsProvider>
    );
    const html = renderToString(page);
    expect(html).toContain("banner is on.");
    const shown = await hydrate(html, page);
    expect(shown.complaints).toEqual([]);
    await act(() => service.requested(1));
    await act(async () => {});
    expect(service.requests[0]?.body).toContain('"userId":"ada"');
    expect(shown.text()).toBe("banner is off.");
  });
});
