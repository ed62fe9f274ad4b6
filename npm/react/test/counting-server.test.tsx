// @vitest-environment node
import { FeatureFlagsClient } from "@pennon/core";
import { FeatureFlagsProvider, useFlag } from "@pennon/react";
import { renderToString } from "react-dom/server";
import { expect, it } from "vitest";
import { configuration, flag, optionsFor, ScriptedService } from "../../core/test/scripted.ts";

function Banner() {
  return useFlag("banner") ? "on" : "off";
}

it("counts each evaluation of a render on a server, which is final", async () => {
  const counted: string[] = [];
  const client = new FeatureFlagsClient(
    optionsFor(new ScriptedService(configuration([flag("banner")])), {
      onEvaluate: ({ key }) => counted.push(key),
    }),
  );
  await client.initialize();
  const page = (
    <FeatureFlagsProvider client={client}>
      <Banner />
    </FeatureFlagsProvider>
  );
  expect(renderToString(page)).toBe("on");
  expect(counted).toEqual(["banner"]);
  await client.shutdown();
});
