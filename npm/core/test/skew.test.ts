// Tests this client with the last release of the server, and the last release of the client with this server.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { FeatureFlagsClient, fetchTransport, type TransportRequest, VERSION } from "@pennon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Pennon } from "../../test-kit/pennon.ts";
import { RecordedServer, type Recording, record } from "./recording.ts";
import { createVectorFlags, type VectorCase } from "./vector-flags.ts";

const fixtures = fileURLToPath(new URL("../../../tests/fixtures/", import.meta.url));
const recordingPath = join(fixtures, "service/recording.json");

const failed = expect.objectContaining({ code: "INITIALIZATION_FAILED" });

/** Resolves to the keys of the next changed flags. */
function nextChange(client: FeatureFlagsClient): Promise<readonly string[]> {
  return new Promise((resolve) => client.once("change", ({ flags }) => resolve(flags)));
}

describe("this client, with the last release of the server", () => {
  let recording: Recording;
  let server: RecordedServer;

  beforeAll(async () => {
    if (process.env.PENNON_WRITE_RECORDING !== undefined) {
      const pennon = await Pennon.start();
      writeFileSync(recordingPath, `${JSON.stringify(await record(pennon, VERSION))}\n`);
      await pennon.stop();
    }
    recording = JSON.parse(readFileSync(recordingPath, "utf8"));
    server = await RecordedServer.start(recording);
  }, 120_000);

  afterAll(() => server?.stop());

  const optionsFor = (sdkKey = "pnk_recorded") => ({
    sdkKey,
    baseUrl: server.url,
    pollIntervalMs: 0,
    retries: 1,
  });

  it("evaluates, polls, follows the stream, and reports usage", async () => {
    const client = new FeatureFlagsClient({ ...optionsFor(), streaming: true, reportUsage: true });
    await client.initialize();
    const configured = new Set<string>(
      JSON.parse(recording.configurations[0].body).flags.map((flag: { key: string }) => flag.key),
    );
    let compared = 0;
    for (const { key, context, expected } of recording.cases) {
      if (configured.has(key) || expected === null) {
        expect(client.read(key, context) ?? null, key).toEqual(expected);
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(500);
    await client.refresh();
    const evaluated = JSON.parse(recording.evaluated.body);
    expect(await client.evaluateRemote(recording.switched)).toEqual(evaluated);
    await expect(client.evaluateRemote("no_such_flag")).rejects.toMatchObject({
      code: "FLAG_NOT_FOUND",
    });
    const changed = nextChange(client);
    server.switch();
    expect(await changed).toEqual([recording.switched]);
    expect(client.isEnabled(recording.switched)).toBe(false);
    await client.flush();
    // The last release ignores the result.
    const count = {
      flagKey: expect.any(String),
      reason: expect.any(String),
      enabled: expect.any(Boolean),
      count: expect.any(Number),
    };
    // It might reject another member that it does not know.
    const { counts, ...rest } = server.posted.get("usage") as { counts: unknown[] };
    expect(counts).toEqual(counts.map(() => count));
    expect(rest).toEqual({ id: expect.any(String) });
    expect(server.posted.get("evaluate")).toEqual({ flagKey: "no_such_flag" });
    await client.shutdown();
  });

  it("recognizes its refusal of a key", async () => {
    const client = new FeatureFlagsClient(optionsFor("pnk_unknown"));
    await expect(client.initialize()).rejects.toEqual(failed);
    await expect(client.initialize()).rejects.toThrow("sdkKey");
  });
});

describe("the last release of the client, with this server", () => {
  const folder = mkdtempSync(join(tmpdir(), "pennon-client-"));
  let Released: typeof FeatureFlagsClient;
  let pennon: Pennon;
  let sdkKey: string;
  let environment: string;
  let cases: readonly VectorCase[];

  beforeAll(async () => {
    const [tarball = ""] = readdirSync(join(fixtures, "client"));
    execFileSync("tar", ["-xzf", join(fixtures, "client", tarball), "-C", folder]);
    const entry = pathToFileURL(join(folder, "package/dist/node.js"));
    ({ FeatureFlagsClient: Released } = await import(/* @vite-ignore */ entry.href));
    pennon = await Pennon.start();
    ({ id: environment, sdkKey } = await pennon.request("POST", "/environments", {
      product: "shop",
      name: "test",
    }));
    const files = ["logic.json", "types.json", "precedence.json", "priority.json"];
    const created = [];
    for (const file of files) {
      created.push(...(await createVectorFlags(pennon, environment, file)));
    }
    cases = created;
  }, 60_000);

  afterAll(async () => {
    await pennon?.stop();
    rmSync(folder, { recursive: true });
  });

  it("evaluates, polls, follows the stream, and reports usage", async () => {
    const flag = await pennon.request("POST", "/flags", { key: "s", name: "S", type: "boolean" });
    const configuration = `/flags/${flag.id}/environments/${environment}`;
    await pennon.request("PUT", configuration, { isEnabled: true });
    const statuses = new Map<string | undefined, number>();
    const send = async (request: TransportRequest) => {
      const response = await fetchTransport.send(request);
      statuses.set(request.url.split("/").at(-1), response.status);
      return response;
    };
    const client = new Released({
      sdkKey,
      baseUrl: pennon.url,
      pollIntervalMs: 0,
      streaming: true,
      reportUsage: true,
      transport: { ...fetchTransport, send },
    });
    await client.initialize();
    const { flags } = await pennon.request("GET", "/sdk/v1/config", undefined, sdkKey);
    const configured = new Set(flags.map(({ key }: { key: string }) => key));
    for (const { key, context, expected, description } of cases) {
      if (configured.has(key)) {
        expect(client.read(key, context), description).toEqual(expected);
        expect(await client.evaluateRemote(key, context), description).toEqual(expected);
      }
    }
    await client.refresh();
    const changed = nextChange(client);
    await pennon.request("PUT", configuration, { isEnabled: false });
    expect(await changed).toEqual(["s"]);
    client.isEnabled("s");
    await client.shutdown();
    expect(statuses.get("usage")).toBe(204);
  });
});
