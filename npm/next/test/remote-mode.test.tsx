// @vitest-environment jsdom
import type { FeatureFlagsClient, Snapshot } from "@pennon/core";
import { FeatureFlagsProvider, useFeatureFlagsClient, useFlag } from "@pennon/next/client";
import { act } from "react";
import { hydrateRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { readyClient } from "../../test-kit/clients.ts";
import { EvaluatingServer } from "../../test-kit/evaluating.ts";
import { configuration, flag, optionsFor, ScriptedServer } from "../../test-kit/scripted.ts";

vi.mock("next/navigation.js", () => ({ useRouter: () => ({ refresh: vi.fn() }) }));

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

/** Returns the bootstrap for a user, in which the flag `beta` is on or off. */
async function snapshot(userId: string, isOn: boolean): Promise<Snapshot> {
  const server = new ScriptedServer(configuration([flag("beta", isOn)]));
  const client = await readyClient(server);
  return JSON.parse(JSON.stringify(client.withContext({ userId }).snapshot()));
}

describe("a page with a client in remote mode", () => {
  it("shows the server's evaluations first, and then asks for their context", async () => {
    const server = new EvaluatingServer();
    const options = { ...optionsFor(server), mode: "remote" as const };
    let client: FeatureFlagsClient | undefined;
    function Beta() {
      client = useFeatureFlagsClient();
      return <p>{`beta ${useFlag("beta")}`}</p>;
    }
    const page = (bootstrap: Snapshot) => (
      <FeatureFlagsProvider bootstrap={bootstrap} options={options}>
        <Beta />
      </FeatureFlagsProvider>
    );
    const bootstrap = await snapshot("ada", true);
    const container = document.createElement("div");
    container.innerHTML = renderToString(page(bootstrap));
    expect(container.textContent).toBe("beta true");
    expect(server.requests).toEqual([]);
    const root = await act(async () => hydrateRoot(container, page(bootstrap)));
    onTestFinished(() => act(async () => root.unmount()));
    await act(async () => client?.initialize());
    expect(container.textContent).toBe("beta true");
    const other = await snapshot("bob", false);
    await act(async () => root.render(page(other)));
    await act(async () => client?.setContext({ userId: "bob" }));
    expect(container.textContent).toBe("beta false");
    expect(server.bodies).toEqual([{ context: { userId: "ada" } }, { context: { userId: "bob" } }]);
  });
});
