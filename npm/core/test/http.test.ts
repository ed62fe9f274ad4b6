import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { FeatureFlagsClient, VERSION } from "@pennon/core";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { flag } from "../../test-kit/scripted.ts";

describe("over real HTTP", () => {
  const seen: IncomingMessage[] = [];
  const tag = 'W/"1"';
  let server: Server;
  let baseUrl: string;

  beforeEach(async () => {
    server = createServer((request, response) => {
      seen.push(request);
      if (request.headers.authorization !== "Bearer pnk_right") {
        response.writeHead(401, { "Content-Type": "application/problem+json" }).end("{}");
      } else if (request.headers["if-none-match"] === tag) {
        response.writeHead(304, { ETag: tag }).end();
      } else {
        response.writeHead(200, { ETag: tag, "Content-Type": "application/json" });
        response.end(JSON.stringify({ flags: [flag("beta"), flag("höhe", false)] }));
      }
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterEach(async () => {
    seen.length = 0;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it("fetches the flags, and then sends their tag", async () => {
    const client = new FeatureFlagsClient({ sdkKey: "pnk_right", baseUrl, pollIntervalMs: 0 });
    await client.initialize();
    await client.refresh();
    expect(client.isEnabled("beta")).toBe(true);
    expect(client.isEnabled("höhe")).toBe(false);
    expect(seen.map(({ method, url, headers }) => [method, url, headers["if-none-match"]])).toEqual(
      [
        ["GET", "/sdk/v1/config", undefined],
        ["GET", "/sdk/v1/config", tag],
      ],
    );
    await client.shutdown();
  });

  it("names the package and its version in every request", async () => {
    const client = new FeatureFlagsClient({
      sdkKey: "pnk_right",
      baseUrl,
      streaming: true,
      reportUsage: true,
    });
    await client.initialize();
    await client.evaluateRemote("beta").catch(() => {});
    client.isEnabled("beta");
    await client.flush();
    await vi.waitFor(() => expect(seen).toHaveLength(4));
    await client.shutdown();
    const named = seen.map(({ url, headers }) => [url, headers["x-pennon-client"]]);
    const name = `@pennon/core/${VERSION}`;
    expect(named.toSorted()).toEqual([
      ["/sdk/v1/config", name],
      ["/sdk/v1/evaluate", name],
      ["/sdk/v1/stream", name],
      ["/sdk/v1/usage", name],
    ]);
  });

  it("distinguishes a wrong key from an outage", async () => {
    const client = new FeatureFlagsClient({ sdkKey: "pnk_wrong", baseUrl });
    await expect(client.initialize()).rejects.toThrow("401");
    expect(seen).toHaveLength(1);
  });

  it("treats a missing server as an outage", async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    const client = new FeatureFlagsClient({ sdkKey: "k", baseUrl, retries: 1, retryDelayMs: 1 });
    await expect(client.initialize()).rejects.toThrow("could not be reached");
    server.listen(0);
  });
});

describe("the built-in transport", () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  /** Lets this function answer all requests. Returns the client that sends them, and the calls of `fetch`. */
  function answering(answer: (url: string) => Response, streaming = false) {
    const network = vi.fn(async (url: string, _: RequestInit) => answer(url));
    vi.stubGlobal("fetch", network);
    const quick = { pollIntervalMs: 0, retries: 1, retryDelayMs: 0 };
    const client = new FeatureFlagsClient({ sdkKey: "pnk_test", streaming, ...quick });
    onTestFinished(() => client.shutdown());
    return { client, calls: network.mock.calls };
  }

  const document = () => new Response(JSON.stringify({ flags: [flag("beta")] }));

  it("opens the stream without a cache, and closes it at shutdown", async () => {
    const headers = { "Content-Type": "text/event-stream" };
    const { client, calls } = answering(
      (url) =>
        url.endsWith("/stream") ? new Response(new ReadableStream(), { headers }) : document(),
      true,
    );
    await client.initialize();
    await vi.waitFor(() => expect(calls).toHaveLength(2));
    const request = calls[1]?.[1];
    expect(request?.cache).toBe("no-store");
    await client.shutdown();
    expect(request?.signal?.aborted).toBe(true);
  });

  it("lets only usage reports outlive a page", async () => {
    const { client, calls } = answering(document);
    await client.initialize();
    client.isEnabled("beta");
    await client.shutdown();
    const sent = calls.map(([url, { keepalive }]) => [url.split("/").pop(), keepalive]);
    expect(sent).toEqual([
      ["config", undefined],
      ["usage", true],
    ]);
  });

  it("cancels a body that it does not read", async () => {
    const cancel = vi.fn();
    const { client } = answering(
      () => new Response(new ReadableStream({ cancel }), { status: 403 }),
    );
    await expect(client.initialize()).rejects.toThrow("403");
    expect(cancel).toHaveBeenCalledOnce();
  });
});
