// @vitest-environment node
import { FeatureFlagsProvider, useFlag } from "@pennon/react";
import { renderToString } from "react-dom/server";
import { expect, it } from "vitest";
import { readyClient } from "../../test-kit/clients.ts";
import { configuration, flag, ScriptedService } from "../../test-kit/scripted.ts";

function Banner() {
  return useFlag("banner") ? "on" : "off";
}

it("counts each evaluation of a render on a server, which is final", async () => {
  const counted: string[] = [];
  const client = await readyClient(new ScriptedService(configuration([flag("banner")])), {
    onEvaluate: ({ key }) => counted.push(key),
  });
  const page = (
    <FeatureFlagsProvider client={client}>
      <Banner />
    </FeatureFlagsProvider>
  );
  expect(renderToString(page)).toBe("on");
  expect(counted).toEqual(["banner"]);
});
