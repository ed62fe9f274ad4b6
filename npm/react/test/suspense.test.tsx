import { FeatureFlagsProvider, useFlagsStatus, useSuspenseFlag } from "@pennon/react";
import { act, type ReactNode, Suspense, useLayoutEffect } from "react";
import { describe, expect, it } from "vitest";
import { clientFor } from "../../test-kit/clients.ts";
import {
  configuration,
  flag,
  held,
  optionsFor,
  ScriptedServer,
  status,
} from "../../test-kit/scripted.ts";
import { change, ready, render } from "./support.tsx";

function Waiting({ name }: { readonly name: string }) {
  return <>{`${name} is ${useSuspenseFlag(name, true) ? "on" : "off"}`}</>;
}

function Failure() {
  return <>{useFlagsStatus().error?.code ?? "none"}</>;
}

const patient = (children: ReactNode) => <Suspense fallback="…">{children}</Suspense>;

describe("useSuspenseFlag", () => {
  it("suspends until the client has flags, and then follows them", async () => {
    const answer = held();
    const server = new ScriptedServer(answer.answer);
    const client = clientFor(server);
    const page = await render(
      <FeatureFlagsProvider client={client}>
        {patient(<Waiting name="banner" />)}
        {patient(<Waiting name="unknown" />)}
      </FeatureFlagsProvider>,
    );
    expect(page.text()).toBe("……");
    await act(async () => {
      const initialized = client.initialize();
      await server.requested(1);
      await answer.release(configuration([flag("banner", false)]));
      await initialized;
    });
    expect(page.text()).toBe("banner is offunknown is on");
    await change(server, client, [flag("banner")]);
    expect(page.text()).toBe("banner is onunknown is on");
    await client.shutdown();
  });

  it("stops suspending when fetching has failed", async () => {
    const server = new ScriptedServer(status(401));
    const page = await render(
      <FeatureFlagsProvider options={optionsFor(server)}>
        {patient(<Waiting name="banner" />)}
      </FeatureFlagsProvider>,
    );
    await act(async () => {
      await server.requested(1);
      await new Promise((resolve) => setTimeout(resolve));
    });
    expect(page.text()).toBe("banner is on");
  });

  it.each(["before", "after"])(
    "stops suspending when the application's own client fails %s it is mounted",
    async (when) => {
      const client = clientFor(new ScriptedServer(status(401)));
      const fail = () => client.initialize().catch(() => {});
      if (when === "before") {
        await fail();
      }
      const page = await render(
        <FeatureFlagsProvider client={client}>
          {patient(<Waiting name="banner" />)}
          <Failure />
        </FeatureFlagsProvider>,
      );
      if (when === "after") {
        expect(page.text()).toBe("…none");
        await act(fail);
      }
      expect(page.text()).toBe("banner is onINITIALIZATION_FAILED");
      await act(() => client.shutdown());
      expect(page.text()).toBe("banner is onNOT_INITIALIZED");
    },
  );

  it("stops suspending when the client fails between a render and its effects", async () => {
    const client = clientFor(new ScriptedServer(held().answer));
    function End() {
      useLayoutEffect(() => void client.shutdown());
      return null;
    }
    const page = await render(
      <FeatureFlagsProvider client={client}>
        {patient(<Waiting name="banner" />)}
        <End />
      </FeatureFlagsProvider>,
    );
    expect(page.text()).toBe("banner is on");
  });

  it("does not suspend for flags of a bootstrap, or if the client is ready", async () => {
    const { client } = await ready([flag("banner", false)]);
    const bootstrap = client.snapshot();
    const server = new ScriptedServer(held().answer);
    const handedOver = await render(
      <FeatureFlagsProvider options={optionsFor(server)} bootstrap={bootstrap}>
        <Waiting name="banner" />
      </FeatureFlagsProvider>,
    );
    expect(handedOver.text()).toBe("banner is off");
    const page = await render(
      <FeatureFlagsProvider client={client}>
        <Waiting name="banner" />
      </FeatureFlagsProvider>,
    );
    expect(page.text()).toBe("banner is off");
  });
});
