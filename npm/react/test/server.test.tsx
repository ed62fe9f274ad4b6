import { FeatureFlagsClient, type Snapshot } from "@pennon/core";
import {
  FeatureFlagsProvider,
  type FeatureFlagsProviderProps,
  useFlagDetails,
  useFlags,
  useFlagsStatus,
  useSuspenseFlag,
} from "@pennon/react";
import { act, lazy, Suspense } from "react";
import { renderToString } from "react-dom/server";
import { describe, expect, it, vi } from "vitest";
import {
  configuration,
  flag,
  flagWithRule,
  held,
  optionsFor,
  ScriptedServer,
} from "../../test-kit/scripted.ts";
import { Client, change, Flag, hydrate, ready, render } from "./support.tsx";

function Everything() {
  const text = JSON.stringify([
    useFlags(),
    useFlags(["banner"]),
    useFlagDetails("ruled"),
    useFlagsStatus(),
    useSuspenseFlag("ruled"),
  ]);
  return (
    <>
      <Flag name="banner" />
      <Flag name="ruled" />
      <Flag name="unknown" fallback={true} />
      {text}
    </>
  );
}

/** The bootstrap of a server for a context in France. */
async function handedOver(): Promise<Snapshot> {
  const { client } = await ready([flag("banner"), flagWithRule("ruled", "FR")]);
  return JSON.parse(JSON.stringify(client.withContext({ country: "FR" }).snapshot()));
}

/** Renders on a server, hydrates the result, and expects no error from React. */
async function servedAndHydrated(onServer: FeatureFlagsProviderProps, inBrowser = onServer) {
  const app = (props: FeatureFlagsProviderProps) => (
    <FeatureFlagsProvider {...props}>
      <Everything />
    </FeatureFlagsProvider>
  );
  const complained = vi.spyOn(console, "error");
  const html = renderToString(app(onServer));
  const page = await hydrate(html, app(inBrowser));
  expect(page.complaints).toEqual([]);
  expect(complained).not.toHaveBeenCalled();
  complained.mockRestore();
  return { html, page };
}

describe("a page from a server", () => {
  it("has the right values in its HTML and in the first render, including the context", async () => {
    const bootstrap = await handedOver();
    const server = new ScriptedServer(held().answer);
    const { html, page } = await servedAndHydrated({ options: optionsFor(server), bootstrap });
    expect(html).toMatch("banner is on.</i><i>ruled is off.</i><i>unknown is on.");
    expect(page.text()).toMatch("banner is on.ruled is off.unknown is on.");
  });

  it.each([undefined, null])(
    "also accepts the bootstrap in the options, beside %s",
    async (bootstrap) => {
      const options = optionsFor(new ScriptedServer(held().answer));
      const { html } = await servedAndHydrated({
        options: { ...options, bootstrap: await handedOver() },
        bootstrap: bootstrap as undefined,
      });
      expect(html).toMatch("banner is on.");
    },
  );

  it("has no flags yet if both are null", async () => {
    const options = { ...optionsFor(new ScriptedServer(held().answer)), bootstrap: null };
    const props = { options, bootstrap: null } as unknown as FeatureFlagsProviderProps;
    const { html } = await servedAndHydrated(props);
    expect(html).toMatch("banner is off.");
  });

  it("sends no request while it is rendered on the server", async () => {
    const server = new ScriptedServer(configuration([]));
    renderToString(
      <FeatureFlagsProvider options={optionsFor(server)}>
        <Everything />
      </FeatureFlagsProvider>,
    );
    expect(server.requests).toEqual([]);
  });

  it("has fallbacks without a bootstrap, and then the flags", async () => {
    const server = new ScriptedServer(configuration([flag("banner"), flag("ruled", false)]));
    const options = optionsFor(server, { fallbacks: { ruled: true } });
    const { html, page } = await servedAndHydrated({ options });
    expect(html).toMatch("banner is off.</i><i>ruled is on.");
    await vi.waitFor(() => expect(page.text()).toMatch("banner is on.ruled is off."));
  });

  it("has the flags of its client if the bootstrap is null, as if it were absent", async () => {
    const { client } = await ready([flag("banner")]);
    const props = { client, bootstrap: null } as unknown as FeatureFlagsProviderProps;
    const { html } = await servedAndHydrated(props);
    expect(html).toMatch("banner is on.");
  });

  it("can come from a long-lived client on the server", async () => {
    const { client } = await ready([flag("banner"), flagWithRule("ruled", "FR")]);
    const context = { country: "FR" };
    const bootstrap = client.withContext(context).snapshot();
    const { html } = await servedAndHydrated(
      { client, context, bootstrap },
      { options: optionsFor(new ScriptedServer(held().answer)), context, bootstrap },
    );
    expect(html).toMatch("banner is on.</i><i>ruled is off.");
  });

  it("needs no key in the browser if it only reads the bootstrap", async () => {
    const bootstrap = await handedOver();
    const client = FeatureFlagsClient.fromSnapshot(bootstrap);
    const { page } = await servedAndHydrated({ client, bootstrap });
    expect(page.text()).toMatch("banner is on.ruled is off.");
    function Late() {
      return <>{String(useSuspenseFlag("unknown"))}</>;
    }
    const other = await render(
      <FeatureFlagsProvider client={client} bootstrap={bootstrap}>
        <Suspense fallback="loading">
          <Late />
        </Suspense>
      </FeatureFlagsProvider>,
    );
    expect(other.text()).toBe("false");
  });

  it("switches to newer flags after its first render, without an error", async () => {
    const bootstrap = await handedOver();
    const server = new ScriptedServer(configuration([flag("banner", false)]));
    const { page } = await servedAndHydrated({ options: optionsFor(server), bootstrap });
    await vi.waitFor(() => expect(page.text()).toMatch("banner is off."));
  });

  it("hydrates with the served flags even if that happens late", async () => {
    const bootstrap = await handedOver();
    const server = new ScriptedServer(configuration([flag("banner", false)]));
    let load: (module: { default: typeof Flag }) => void = () => {};
    const Late = lazy(() => new Promise<{ default: typeof Flag }>((resolve) => (load = resolve)));
    let client: FeatureFlagsClient | undefined;
    const app = (Shown: typeof Flag | typeof Late) => (
      <FeatureFlagsProvider options={optionsFor(server)} bootstrap={bootstrap}>
        <Client
          give={(found) => {
            client = found;
          }}
        />
        <Suspense>
          <Shown name="banner" />
        </Suspense>
      </FeatureFlagsProvider>
    );
    const page = await hydrate(renderToString(app(Flag)), app(Late));
    expect(page.text()).toBe("banner is on.");
    await act(async () => {
      await client?.initialize();
      await client?.refresh();
    });
    // The rest of the page has newer flags, but this part is not hydrated yet.
    expect(page.text()).toBe("banner is on.");
    await act(async () => load({ default: Flag }));
    expect(page.text()).toBe("banner is off.");
    expect(page.complaints).toEqual([]);
  });

  it("follows the flags once it is hydrated", async () => {
    const { client, server } = await ready([flag("banner")]);
    const bootstrap = client.snapshot();
    const { page } = await servedAndHydrated({ client, bootstrap });
    await change(server, client, [flag("banner", false)]);
    expect(page.text()).toMatch("banner is off.");
  });
});
