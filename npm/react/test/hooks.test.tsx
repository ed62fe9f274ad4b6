import {
  Feature,
  FeatureFlagsProvider,
  useFlag,
  useFlagDetails,
  useFlags,
  useFlagsStatus,
} from "@pennon/react";
import { act } from "react";
import { renderToString } from "react-dom/server";
import { describe, expect, it, vi } from "vitest";
import { clientFor } from "../../test-kit/clients.ts";
import {
  configuration,
  flag,
  flagWithRule,
  held,
  ScriptedServer,
  status,
} from "../../test-kit/scripted.ts";
import { change, Flag, ready, render } from "./support.tsx";

function Details({ name, fallback }: { readonly name: string; readonly fallback?: boolean }) {
  return <>{JSON.stringify(useFlagDetails(name, fallback))}</>;
}

function All() {
  return <>{JSON.stringify(useFlags())}</>;
}

function Status() {
  const { ready, error } = useFlagsStatus();
  return <>{`${ready ? "ready" : "not ready"} ${error?.code ?? ""}`}</>;
}

describe("useFlag", () => {
  it("follows the flag", async () => {
    const { client, server } = await ready([flag("banner")]);
    const page = await render(
      <FeatureFlagsProvider client={client}>
        <Flag name="banner" />
      </FeatureFlagsProvider>,
    );
    expect(page.text()).toBe("banner is on.");
    await change(server, client, [flag("banner", false)]);
    expect(page.text()).toBe("banner is off.");
  });

  it("returns the fallback for a missing flag, and for a value that is not a key", async () => {
    const { client } = await ready([]);
    const page = await render(
      <FeatureFlagsProvider client={client}>
        <Flag name="banner" />
        <Flag name="banner" fallback={true} />
        <Flag name={"__proto__"} />
        <Flag name={undefined as unknown as string} />
      </FeatureFlagsProvider>,
    );
    expect(page.text()).toBe("banner is off.banner is on.__proto__ is off.undefined is off.");
  });

  it("returns the fallback until the client has flags, and then the flag", async () => {
    const answer = held();
    const server = new ScriptedServer(answer.answer);
    const client = clientFor(server);
    const page = await render(
      <FeatureFlagsProvider client={client}>
        <Flag name="banner" fallback={true} />
      </FeatureFlagsProvider>,
    );
    expect(page.text()).toBe("banner is on.");
    await act(async () => {
      const initialized = client.initialize();
      await server.requested(1);
      await answer.release(configuration([flag("banner", false)]));
      await initialized;
    });
    expect(page.text()).toBe("banner is off.");
  });

  it("names the missing provider", () => {
    expect(() => renderToString(<Flag name="banner" />)).toThrow("inside a <FeatureFlagsProvider>");
  });

  it("follows another key", async () => {
    const { client } = await ready([flag("on"), flag("off", false)]);
    const show = (name: string) => (
      <FeatureFlagsProvider client={client}>
        <Flag name={name} />
      </FeatureFlagsProvider>
    );
    const page = await render(show("on"));
    await page.rerender(show("off"));
    expect(page.text()).toBe("off is off.");
  });
});

describe("useFlagDetails", () => {
  it("returns the value, the reason, and that nothing is loading", async () => {
    const { client } = await ready([flagWithRule("banner", "FR")]);
    const page = await render(
      <FeatureFlagsProvider client={client} context={{ country: "FR" }}>
        <Details name="banner" />
      </FeatureFlagsProvider>,
    );
    expect(JSON.parse(page.text() ?? "")).toEqual({
      value: false,
      reason: "targeting_rule",
      loading: false,
    });
  });

  it("has no reason for a fallback, and is loading only until the client is ready", async () => {
    const server = new ScriptedServer(configuration([]));
    const client = clientFor(server, { fallbacks: { preset: true } });
    const page = await render(
      <FeatureFlagsProvider client={client}>
        <Details name="banner" fallback={true} />
        <Details name="preset" />
      </FeatureFlagsProvider>,
    );
    const preset = '{"value":true,"reason":"fallback","loading":';
    expect(page.text()).toBe(`{"value":true,"loading":true}${preset}true}`);
    await act(() => client.initialize());
    expect(page.text()).toBe(`{"value":true,"loading":false}${preset}false}`);
  });

  it("returns the same object until something changes", async () => {
    const { client, server } = await ready([flag("banner"), flag("other")]);
    const seen = new Set<unknown>();
    function Seen() {
      seen.add(useFlagDetails("banner"));
      return <All />;
    }
    const show = () => (
      <FeatureFlagsProvider client={client}>
        <Seen />
      </FeatureFlagsProvider>
    );
    const page = await render(show());
    await change(server, client, [flag("banner"), flag("other", false)]);
    await page.rerender(show());
    expect(seen.size).toBe(1);
  });
});

describe("useFlags", () => {
  it("returns all flags", async () => {
    const { client, server } = await ready([flag("one"), flag("two", false)]);
    const page = await render(
      <FeatureFlagsProvider client={client}>
        <All />
      </FeatureFlagsProvider>,
    );
    expect(page.text()).toBe('{"one":true,"two":false}');
    await change(server, client, [flag("__proto__"), flag("one")]);
    expect(page.text()).toBe('{"__proto__":true,"one":true}');
  });

  it("has no flag that only `Object.prototype` has", async () => {
    const { client } = await ready([flag("one")]);
    function Missing() {
      const flags = useFlags();
      // React passes it to Server Functions only if it has a prototype.
      const hasPrototype = Object.getPrototypeOf(flags) !== null;
      return <>{`${flags.one} ${flags.constructor} ${hasPrototype}`}</>;
    }
    const page = await render(
      <FeatureFlagsProvider client={client}>
        <Missing />
      </FeatureFlagsProvider>,
    );
    expect(page.text()).toBe("true undefined true");
  });

  it("returns the given flags, and does not render for any other", async () => {
    const { client, server } = await ready([flag("one"), flag("two", false), flag("three")]);
    const seen: unknown[] = [];
    function Some() {
      seen.push(useFlags(["one", "two", "unknown"]));
      return null;
    }
    await render(
      <FeatureFlagsProvider client={client}>
        <Some />
      </FeatureFlagsProvider>,
    );
    await change(server, client, [flag("one"), flag("two", false), flag("three", false)]);
    expect(seen).toEqual([{ one: true, two: false, unknown: false }]);
    await change(server, client, [flag("one"), flag("two"), flag("three", false)]);
    expect(seen).toEqual([seen[0], { one: true, two: true, unknown: false }]);
  });
});

describe("useFlagsStatus", () => {
  it("reports a ready client, an error, and a shutdown", async () => {
    const server = new ScriptedServer(configuration([]));
    const client = clientFor(server);
    const page = await render(
      <FeatureFlagsProvider client={client}>
        <Status />
      </FeatureFlagsProvider>,
    );
    expect(page.text()).toBe("not ready ");
    await act(() => client.initialize());
    expect(page.text()).toBe("ready ");
    server.respondWith(status(401));
    await act(() => client.refresh().catch(() => {}));
    expect(page.text()).toBe("ready REFRESH_FAILED");
    await change(server, client, []);
    expect(page.text()).toBe("ready ");
    await act(() => client.shutdown());
    expect(page.text()).toBe("not ready NOT_INITIALIZED");
  });
});

describe("Feature", () => {
  it("shows its children or the fallback", async () => {
    const { client, server } = await ready([flag("banner")]);
    const page = await render(
      <FeatureFlagsProvider client={client}>
        <Feature flag="banner" fallback="old">
          new
        </Feature>
        <Feature flag="banner">!</Feature>
        <Feature flag="unknown" fallback="?" />
      </FeatureFlagsProvider>,
    );
    expect(page.text()).toBe("new!?");
    await change(server, client, [flag("banner", false)]);
    expect(page.text()).toBe("old?");
  });
});

describe("the client's isEnabled", () => {
  it("is never called, because it ignores the context", async () => {
    const { client } = await ready([flagWithRule("banner", "FR")]);
    const asked = vi.spyOn(client, "isEnabled");
    function Everything() {
      useFlag("banner");
      useFlagDetails("banner");
      useFlags();
      useFlags(["banner"]);
      return <Feature flag="banner">on</Feature>;
    }
    const page = await render(
      <FeatureFlagsProvider client={client} context={{ country: "FR" }}>
        <Everything />
      </FeatureFlagsProvider>,
    );
    expect(page.text()).toBe("");
    expect(asked).not.toHaveBeenCalled();
  });
});
