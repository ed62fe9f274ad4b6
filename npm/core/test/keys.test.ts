import type { FeatureFlagsClient } from "@pennon/core";
import { describe, expect, it } from "vitest";
import { readyClient } from "../../test-kit/clients.ts";
import { configuration, flag, ScriptedServer } from "../../test-kit/scripted.ts";

/** Some are prefixes of others, and their order by bytes is not that of UTF-16. */
const keys = [
  "",
  "a",
  "ab",
  "abc",
  "b",
  "é",
  "ﬀ",
  "\uFFFD",
  "🐎",
  "🐎🐎",
  'q"\\\n',
  "x".repeat(500),
];

async function clientOf(present: readonly string[]): Promise<FeatureFlagsClient> {
  const server = new ScriptedServer(configuration(present.map((key) => flag(key))));
  return readyClient(server);
}

describe("a key", () => {
  it("is found among others, whatever its characters", async () => {
    const client = await clientOf(keys.toReversed());
    for (const key of keys) {
      expect(client.isEnabled(key), key).toBe(true);
    }
    expect(Object.keys(client.evaluateAll()).toSorted()).toEqual(keys.toSorted());
  });

  it("is not found if it is missing between its neighbors", async () => {
    for (const missing of keys) {
      const client = await clientOf(keys.filter((key) => key !== missing));
      expect(client.read(missing), missing).toBeUndefined();
      await client.shutdown();
    }
  });

  it("is found as soon as its flag exists", async () => {
    const server = new ScriptedServer(
      configuration([flag("old")]),
      configuration([flag("new"), flag("old")], 'W/"2"'),
    );
    const client = await readyClient(server);
    for (let number = 0; number < 2_000; number += 1) {
      expect(client.read(`never_${number}`)).toBeUndefined();
    }
    expect([client.read("new"), client.read("new")]).toEqual([undefined, undefined]);
    await client.refresh();
    expect(client.isEnabled("new")).toBe(true);
    expect(client.read("never_1")).toBeUndefined();
  });

  it("is in the event of its flag's change, whatever its characters", async () => {
    const all = (enabled: boolean) => keys.map((key) => flag(key, enabled));
    const server = new ScriptedServer(configuration(all(true)), configuration(all(false), 'W/"2"'));
    const client = await readyClient(server);
    const changed: string[] = [];
    client.on("change", ({ flags }) => changed.push(...flags));
    await client.refresh();
    expect(changed.toSorted()).toEqual(keys.toSorted());
  });

  it("is not found if there are no flags, or if it is not a string", async () => {
    const none = await clientOf([]);
    expect(none.read("a")).toBeUndefined();
    await none.shutdown();
    const client = await clientOf(["undefined", "1"]);
    for (const nonsense of [undefined, null, 1, Symbol("a"), {}]) {
      expect(client.read(nonsense as never)).toBeUndefined();
    }
  });
});
