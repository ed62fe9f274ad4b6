import { it } from "vitest";
import { Pennon } from "../../support/pennon.ts";
import { expectInstalls } from "../../support/registry.ts";

it("npm installs the packages from the server", async () => {
  await using pennon = await Pennon.start();
  const quiet = ["--no-audit", "--no-fund"];
  const manager = {
    program: ["npm"],
    install: ["install", ...quiet],
    installLocked: ["ci", ...quiet],
  } as const;
  await expectInstalls(manager, pennon);
});
