import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import * as common from "@nestjs/common";
import type { FeatureFlagsClient } from "@pennon/core";
import { describe, expect, it } from "vitest";
import { describeOtherCore } from "../../test-kit/other-core.ts";
import { configuration, flag, optionsFor, ScriptedServer } from "../../test-kit/scripted.ts";
import { start } from "./application.ts";

const require = createRequire(import.meta.url);

describeOtherCore(async () => {
  const { FeatureFlagsModule } = await import("@pennon/nest");
  const options = optionsFor(new ScriptedServer());
  await start({ imports: [FeatureFlagsModule.forRoot({ options })] });
});

describe("the package", () => {
  it("also works with require()", async () => {
    const { FeatureFlagsModule, getFeatureFlagsToken, FlagValue } =
      require("@pennon/nest") as typeof import("@pennon/nest");
    class Flags {
      value(value: boolean) {
        return [value];
      }
    }
    FlagValue("on")(Flags.prototype, "value", 0);
    const handler = Object.getOwnPropertyDescriptor(Flags.prototype, "value");
    common.Get()(Flags.prototype, "value", handler ?? {});
    common.Controller()(Flags);
    const options = optionsFor(new ScriptedServer(configuration([flag("on")])));
    const { app, get } = await start({
      imports: [FeatureFlagsModule.forRoot({ options })],
      controllers: [Flags],
    });
    expect((await get("/")).body).toEqual([true]);
    expect(app.get<FeatureFlagsClient>(getFeatureFlagsToken()).isReady()).toBe(true);
  });
});

describe("NestJS", () => {
  it("has the version that these tests require", () => {
    const path = process.env.NEST === "12" ? "../../../tests/nest-12/" : "../";
    const from = createRequire(new URL(`${path}package.json`, import.meta.url));
    const { version } = JSON.parse(
      readFileSync(from.resolve("@nestjs/common/package.json"), "utf8"),
    );
    expect(version.split(".")[0]).toBe(process.env.NEST);
    expect(from("@nestjs/common").Injectable).toBe(common.Injectable);
  });
});
