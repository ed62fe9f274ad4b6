import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, it } from "vitest";
import { launch } from "../../support/browser.ts";
import {
  expectApi,
  expectPage,
  newExample,
  serveShop,
  settings,
  start,
} from "../../support/examples.ts";
import { FakeServer } from "../../support/fake-server.ts";

const npmStart = ["npm", "start"] as const;

/** Starts a Pennon server with the flags of the examples. */
async function shop(port?: number): Promise<FakeServer> {
  const server = await FakeServer.start(undefined, port);
  serveShop(server, true);
  return server;
}

/** Returns `true` if the address accepts new connections. A connection that is already open may still be served. */
async function listens(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const connection = connect(Number(port), hostname);
  try {
    await once(connection, "connect");
    return true;
  } catch {
    return false;
  } finally {
    connection.destroy();
  }
}

describe("examples/node-express", () => {
  let folder: string;

  beforeAll(async () => {
    folder = await newExample("node-express");
  });

  it("follows the flags for the user of each request", async () => {
    await using server = await shop();
    await using example = await start(folder, npmStart, settings(server.url));
    await expectApi(example.url, server);
  });

  it("starts and serves while Pennon is down, and follows changes afterwards", async () => {
    const { url } = await shop().then(async (server) => {
      await using gone = server;
      return { url: gone.url };
    });
    await using example = await start(folder, npmStart, settings(url));
    expect((await fetch(`${example.url}/checkout`)).status).toBe(404);
    expect(await (await fetch(`${example.url}/flags`)).json()).toEqual({});
    await using server = await shop(Number(new URL(url).port));
    const flags = async () => Object.keys(await (await fetch(`${example.url}/flags`)).json());
    await expect.poll(flags, { timeout: 20_000 }).toEqual(["banner", "new_checkout"]);
    await expectApi(example.url, server);
  });

  it("answers requests in flight when it shuts down", async () => {
    await using server = await shop();
    const main = [process.execPath, "src/main.js"] as const;
    await using example = await start(folder, main, settings(server.url));
    const { hostname, port } = new URL(example.url);
    const connection = connect(Number(port), hostname);
    await once(connection, "connect");
    connection.write(`GET /banner HTTP/1.1\r\nHost: ${hostname}\r\n`);
    const ended = example.terminate();
    await expect.poll(() => listens(example.url), { timeout: 20_000 }).toBe(false);
    connection.write("Connection: close\r\n\r\n");
    expect(await text(connection)).toContain("Everything must go");
    expect(await ended).toBe(0);
  });
});

describe("examples/nest-api", () => {
  it("follows the flags for the user of each request", async () => {
    const folder = await newExample("nest-api");
    await using server = await shop();
    await using example = await start(folder, npmStart, settings(server.url));
    await expectApi(example.url, server);
  });
});

describe("examples/browser-plain", () => {
  it("follows the flags for the signed-in user", async () => {
    const folder = await newExample("browser-plain");
    await using server = await shop();
    await using example = await start(folder, npmStart, settings(server.url));
    await using browser = await launch();
    await expectPage(browser, example.url, server);
  });
});
