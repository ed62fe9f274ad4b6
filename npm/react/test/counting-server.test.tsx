// @vitest-environment node
import { FeatureFlagsProvider, useFlag } from "@pennon/react";
import { renderToString } from "react-dom/server";
import { expect, it } from "vitest";
import { readyClient } from "../../test-kit/clients.ts";
import { configuration, flag, optionsFor, ScriptedServer } from "../../test-kit/scripted.ts";

function Banner() {
  return useFlag("banner") ? "on" : "off";
}

/** Starts a client, and collects the keys of the evaluations that it counts. */
async function counting() {
  const counted: string[] = [];
  const server = new ScriptedServer(configuration([flag("banner")]));
  const onEvaluate = ({ key }: { readonly key: string }) => counted.push(key);
  return { client: await readyClient(server, { onEvaluate }), counted, server };
}

it("counts each evaluation of a render on a server, which is final", async () => {
  const { client, counted } = await counting();
  const page = (
    <FeatureFlagsProvider client={client}>
      <Banner />
    </FeatureFlagsProvider>
  );
  expect(renderToString(page)).toBe("on");
  expect(counted).toEqual(["banner"]);
});

it("counts the evaluations of a page with a bootstrap, whose values it shows", async () => {
  const { client, counted, server } = await counting();
  const bootstrap = client.withContext({ userId: "ada" }).snapshot();
  server.respondWith(configuration([flag("banner", false)], 'W/"2"'));
  await client.refresh();
  const page = (
    <FeatureFlagsProvider client={client} bootstrap={bootstrap}>
      <Banner />
    </FeatureFlagsProvider>
  );
  expect(renderToString(page)).toBe("on");
  expect(counted).toEqual(["banner"]);
});

it("leaves it to the page to count the evaluations of the provider's own client", async () => {
  const { client, counted, server } = await counting();
  const onEvaluate = ({ key }: { readonly key: string }) => counted.push(key);
  const page = (
    <FeatureFlagsProvider
      options={optionsFor(server, { onEvaluate })}
      bootstrap={client.snapshot()}
    >
      <Banner />
    </FeatureFlagsProvider>
  );
  expect(renderToString(page)).toBe("on");
  expect(counted).toEqual([]);
});
