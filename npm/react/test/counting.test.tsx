import { FeatureFlagsProvider, useFlag, useFlagDetails, useFlags } from "@pennon/react";
import { act, StrictMode } from "react";
import { describe, expect, it } from "vitest";
import { clientFor } from "../../test-kit/clients.ts";
import { configuration, flag, ScriptedServer } from "../../test-kit/scripted.ts";
import { change, Flag, ready, render } from "./support.tsx";

/** Starts a client, and collects the keys of the evaluations that it counts. */
async function counting(...flags: Parameters<typeof ready>[0]) {
  const counted: string[] = [];
  const onEvaluate = ({ key }: { readonly key: string }) => counted.push(key);
  const { server, client } = await ready(flags, { onEvaluate });
  return { server, client, counted };
}

describe("an evaluation", () => {
  it("counts once per component that uses it, however often React renders", async () => {
    const { client, counted } = await counting(flag("beta"));
    const page = (text: string) => (
      <StrictMode>
        <FeatureFlagsProvider client={client}>
          {text}
          <Flag name="beta" />
          <Flag name="beta" />
        </FeatureFlagsProvider>
      </StrictMode>
    );
    const { rerender } = await render(page("first"));
    expect(counted).toEqual(["beta", "beta"]);
    for (const text of ["second", "third"]) {
      await rerender(page(text));
    }
    expect(counted).toEqual(["beta", "beta"]);
  });

  it("counts again when the flag has changed, but not when another has", async () => {
    const { server, client, counted } = await counting(flag("beta"), flag("other"));
    await render(
      <FeatureFlagsProvider client={client}>
        <Flag name="beta" />
      </FeatureFlagsProvider>,
    );
    await change(server, client, [flag("beta"), flag("other", false)]);
    expect(counted).toEqual(["beta"]);
    await change(server, client, [flag("beta", false), flag("other", false)]);
    expect(counted).toEqual(["beta", "beta"]);
  });

  it("counts again for another context or key", async () => {
    const { client, counted } = await counting(flag("beta"), flag("other"));
    // The evaluation of a flag without rules is the same object for all contexts.
    const page = (country: string, name: string) => (
      <FeatureFlagsProvider client={client} context={{ country }}>
        <Flag name={name} />
      </FeatureFlagsProvider>
    );
    const { rerender } = await render(page("FR", "beta"));
    await rerender(page("FR", "beta"));
    await rerender(page("DE", "beta"));
    await rerender(page("DE", "other"));
    expect(counted).toEqual(["beta", "beta", "other"]);
  });

  it("counts by every hook for single flags, and not by the one for all", async () => {
    const { client, counted } = await counting(flag("one"), flag("two"), flag("three"));
    function Hooks() {
      useFlag("one");
      useFlagDetails("two");
      useFlags(["one", "three"]);
      useFlags();
      return null;
    }
    const page = () => (
      <FeatureFlagsProvider client={client}>
        <Hooks />
      </FeatureFlagsProvider>
    );
    const { rerender } = await render(page());
    await rerender(page());
    expect(counted).toEqual(["one", "two", "one", "three"]);
  });

  it("counts when it arrives, even if it equals the fallback", async () => {
    const counted: string[] = [];
    const client = clientFor(new ScriptedServer(configuration([flag("beta")])), {
      onEvaluate: ({ key }) => counted.push(key),
    });
    const renders: string[] = [];
    await render(
      <FeatureFlagsProvider client={client}>
        <Flag name="beta" fallback={true} renders={renders} />
      </FeatureFlagsProvider>,
    );
    expect(counted).toEqual([]);
    renders.length = 0;
    await act(() => client.initialize());
    expect(renders).toEqual([]);
    expect(counted).toEqual(["beta"]);
  });
});
