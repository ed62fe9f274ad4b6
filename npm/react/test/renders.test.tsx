import { FeatureFlagsProvider } from "@pennon/react";
import { describe, expect, it } from "vitest";
import { flag, flagWithRule } from "../../test-kit/scripted.ts";
import { change, Flag, ready, render } from "./support.tsx";

const names = Array.from({ length: 100 }, (_, index) => `flag_${index}`);

/** Renders 1,000 components, ten for each flag. */
function thousand(renders: string[]) {
  return Array.from({ length: 10 }, (_, row) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the rows never move.
    names.map((name) => <Flag key={`${row} ${name}`} name={name} renders={renders} />),
  );
}

describe("1,000 components", () => {
  it("are rendered once, and then only if their flag has changed", async () => {
    const { client, server } = await ready(names.map((name) => flag(name)));
    const renders: string[] = [];
    await render(<FeatureFlagsProvider client={client}>{thousand(renders)}</FeatureFlagsProvider>);
    expect(renders).toHaveLength(1_000);

    renders.length = 0;
    await change(
      server,
      client,
      names.map((name) => flag(name, name !== "flag_42")),
    );
    expect(renders).toEqual(Array.from({ length: 10 }, () => "flag_42"));

    renders.length = 0;
    await change(server, client, [...names.map((name) => flag(name, name !== "flag_42"))]);
    expect(renders).toEqual([]);
  });

  it("are not rendered for a rule that does not affect the context", async () => {
    const { client, server } = await ready(names.map((name) => flag(name)));
    const renders: string[] = [];
    await render(
      <FeatureFlagsProvider client={client} context={{ country: "GB" }}>
        {thousand(renders)}
      </FeatureFlagsProvider>,
    );
    renders.length = 0;
    const ruled = names.map((name) => flagWithRule(name, name === "flag_7" ? "GB" : "FR"));
    await change(server, client, ruled);
    expect(renders).toEqual(Array.from({ length: 10 }, () => "flag_7"));
  });

  it("are not rendered when the provider is, with a context of the same content", async () => {
    const { client } = await ready(names.map((name) => flag(name)));
    const renders: string[] = [];
    const children = thousand(renders);
    const show = (seats: number) => (
      <FeatureFlagsProvider
        client={client}
        context={{ userId: "ada", customAttributes: { seats } }}
      >
        {children}
      </FeatureFlagsProvider>
    );
    const page = await render(show(1));
    renders.length = 0;
    await page.rerender(show(1));
    expect(renders).toEqual([]);
  });

  it("leave nothing behind", async () => {
    const { client } = await ready(names.map((name) => flag(name)));
    let listeners = 0;
    const { subscribe } = client;
    Object.assign(client, {
      subscribe: (listener: () => void) => {
        listeners += 1;
        const end = subscribe(listener);
        return () => {
          listeners -= 1;
          end();
        };
      },
      on: (...event: Parameters<typeof client.on>) => {
        listeners += 1;
        return Object.getPrototypeOf(client).on.apply(client, event);
      },
      off: (...event: Parameters<typeof client.off>) => {
        listeners -= 1;
        return Object.getPrototypeOf(client).off.apply(client, event);
      },
    });
    const page = await render(
      <FeatureFlagsProvider client={client}>{thousand([])}</FeatureFlagsProvider>,
    );
    expect(listeners).toBeGreaterThan(1_000);
    await page.unmount();
    expect(listeners).toBe(0);
  });
});
