import { type FeatureFlagsClient, type FeatureFlagsClientOptions, noopLogger } from "@pennon/core";
import { describe, expect, it, vi } from "vitest";
import { readyClient } from "../../test-kit/clients.ts";
import { exactTimers } from "../../test-kit/exact-timers.ts";
import { eventsOf, LogRecorder } from "../../test-kit/recorders.ts";
import { configuration, flag, ScriptedServer, status } from "../../test-kit/scripted.ts";
import { StreamingServer } from "../../test-kit/streaming.ts";

const on = configuration([flag("beta")], 'W/"on"');
const off = configuration([flag("beta", false)], 'W/"off"');

exactTimers();

/** The maximum time before a client fetches a change that a stream has announced. */
const spread = () => vi.advanceTimersByTimeAsync(250);
const moment = () => vi.advanceTimersByTimeAsync(0);

/** Returns a client that has just opened its stream. */
async function opening(
  server: ScriptedServer,
  options: Partial<FeatureFlagsClientOptions> = {},
): Promise<FeatureFlagsClient> {
  const streaming = { streaming: true, pollIntervalMs: 30_000 };
  const client = await readyClient(server, { ...streaming, ...options });
  await vi.dynamicImportSettled();
  await moment();
  return client;
}

/** Returns a client with an open stream, which has reported that the client is up to date. */
async function listening(
  server: StreamingServer,
  options: Partial<FeatureFlagsClientOptions> = {},
): Promise<FeatureFlagsClient> {
  const client = await opening(server, options);
  server.announce('W/"on"');
  await moment();
  return client;
}

describe("a client that streams", () => {
  it("fetches a change after a random delay, within the server's limit", async () => {
    for (const [more, longest] of [
      [{}, 250],
      [{ spreadMs: 4_000 }, 4_000],
      [{ spreadMs: 0 }, 0],
      [{ spreadMs: "long" }, 250],
      [{ spreadMs: -1 }, 0],
    ] as const) {
      const server = new StreamingServer(on, off);
      const client = await listening(server);
      server.announce('W/"off"', more);
      await moment();
      if (longest > 0) {
        await vi.advanceTimersByTimeAsync(longest - 1);
        expect(server.requests).toHaveLength(1);
        await vi.advanceTimersByTimeAsync(1);
      }
      expect(server.requests).toHaveLength(2);
      await client.shutdown();
    }
  });

  it("sends the key in a header, and learns of changes at once", async () => {
    const server = new StreamingServer(on, off);
    const client = await listening(server, { baseUrl: "https://flags.example.com/" });
    expect(server.opened).toMatchObject([
      {
        method: "GET",
        url: "https://flags.example.com/sdk/v1/stream",
        headers: { Authorization: "Bearer pnk_test", Accept: "text/event-stream" },
      },
    ]);
    const events = eventsOf(client);
    server.announce('W/"off"');
    await spread();
    expect(client.isEnabled("beta")).toBe(false);
    expect(events).toEqual(["refresh:start", "change beta", "refresh:success"]);
    await client.shutdown();
  });

  it("has no error as soon as the stream confirms its flags", async () => {
    const server = new StreamingServer(on, status(404));
    const client = await listening(server);
    await expect(client.refresh()).rejects.toMatchObject({ code: "REFRESH_FAILED" });
    expect(client.error).toBeDefined();
    const events = eventsOf(client);
    server.announce('W/"on"');
    await moment();
    expect(client.error).toBeUndefined();
    expect(events).toEqual(["refresh:success"]);
  });

  it("does not poll while the stream is open, and keeps its flags", async () => {
    const server = new StreamingServer(on);
    const client = await listening(server);
    for (let time = 0; time < 40; time += 1) {
      await vi.advanceTimersByTimeAsync(15_000);
      server.write(":\n\n");
      await moment();
    }
    expect(server.requests).toHaveLength(1);
    expect(client.isEnabled("beta")).toBe(true);
  });

  it("reads events regardless of chunks and of other lines", async () => {
    const server = new StreamingServer(on, off, on);
    const client = await listening(server);
    const text = `retry: 10\r\ndata: nonsense\r\ndata: {"etag":3}\r\n\r\nevent: config\r\ndata:{"etag":"W/\\"off\\""}\r\n\r\n`;
    for (const character of text) {
      server.write(character);
      await moment();
    }
    await spread();
    expect(client.isEnabled("beta")).toBe(false);
    expect(server.requests).toHaveLength(2);
    server.announce('W/"older"');
    server.announce('W/"on"');
    await spread();
    expect(client.isEnabled("beta")).toBe(true);
  });

  it("follows only the last of several events that arrive together", async () => {
    const server = new StreamingServer(on);
    await listening(server);
    server.write(`data: {"etag":"W/\\"off\\""}\n\ndata: {"etag":"W/\\"on\\""}\n\n`);
    await spread();
    expect(server.requests).toHaveLength(1);
  });

  it("ignores the stream that it has replaced, even if the transport does not end that", async () => {
    const streams: ReadableStreamDefaultController<Uint8Array>[] = [];
    const headers = new Headers({ "Content-Type": "text/event-stream" });
    const open = async () => {
      const body = new ReadableStream<Uint8Array>({ start: (stream) => void streams.push(stream) });
      return { status: 200, headers, body };
    };
    const server = Object.assign(new ScriptedServer(on), { open });
    await opening(server, { pollIntervalMs: 300_000, cacheTtlMs: 600_000 });
    await vi.advanceTimersByTimeAsync(47_000);
    expect(streams).toHaveLength(2);
    const requests = server.requests.length;
    streams[0]?.enqueue(new TextEncoder().encode(`data: {"etag":"W/\\"off\\""}\n\n`));
    await spread();
    expect(server.requests).toHaveLength(requests);
    streams[0]?.close();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(streams).toHaveLength(2);
  });

  it("polls when the stream is lost, and reopens it", async () => {
    const server = new StreamingServer(on, status(304), off);
    const client = await listening(server);
    server.disconnect();
    await moment();
    server.refusals = [503, 503, 503, 503, 503, 503];
    await vi.advanceTimersByTimeAsync(30_000);
    expect(server.requests).toHaveLength(2);
    expect(server.opened).toHaveLength(5);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(client.isEnabled("beta")).toBe(false);
    server.refusals = [];
    await vi.advanceTimersByTimeAsync(30_000);
    server.announce('W/"off"');
    await moment();
    const polls = server.requests.length;
    for (let time = 0; time < 8; time += 1) {
      await vi.advanceTimersByTimeAsync(15_000);
      server.write(":\n");
      await moment();
    }
    expect(server.requests).toHaveLength(polls);
  });

  it("opens a new stream when the server closes it or becomes silent", async () => {
    const server = new StreamingServer(on);
    await listening(server);
    server.end();
    await moment();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(server.opened).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(44_000);
    expect(server.opened[1]?.signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(server.opened[1]?.signal.aborted).toBe(true);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(server.opened).toHaveLength(3);
  });

  it("opens a new stream when a line does not end", async () => {
    const server = new StreamingServer(on);
    const client = await listening(server);
    server.write("x".repeat(65_536));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(server.opened).toHaveLength(1);
    server.write("x");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(server.opened).toHaveLength(2);
    await client.shutdown();
  });

  it.each([
    ["whose line does not end", 200, "text/event-stream"],
    ["that is refused", 503, "text/event-stream"],
    ["that is a page", 200, "text/html"],
  ])("cancels a stream %s", async (_, status, type) => {
    const cancel = vi.fn();
    const line = new Uint8Array(65_537).fill(120);
    const open = async () => {
      const body = new ReadableStream({ start: (stream) => stream.enqueue(line), cancel });
      return { status, headers: new Headers({ "Content-Type": type }), body };
    };
    await opening(Object.assign(new ScriptedServer(on), { open }));
    expect(cancel).toHaveBeenCalledOnce();
  });

  it("reopens a refused stream only after Retry-After", async () => {
    const headers = new Headers({ "Retry-After": "20" });
    const open = vi.fn(async () => ({ status: 503, headers, body: null }));
    await opening(Object.assign(new ScriptedServer(on), { open }));
    await vi.advanceTimersByTimeAsync(19_999);
    expect(open).toHaveBeenCalledOnce();
    await vi.advanceTimersByTimeAsync(1);
    expect(open).toHaveBeenCalledTimes(2);
  });

  it("polls a server that has no stream", async () => {
    const html = {
      status: 200,
      headers: new Headers({ "Content-Type": "text/html" }),
      body: null,
    };
    const answers = [() => Promise.resolve(html), () => Promise.reject(new Error("no"))];
    for (const [index, open] of answers.entries()) {
      const server = Object.assign(new ScriptedServer(on), { open: vi.fn(open) });
      const client = await readyClient(server, { streaming: true, pollIntervalMs: 1_000 });
      await vi.dynamicImportSettled();
      await vi.advanceTimersByTimeAsync(10_000);
      expect(server.open).toHaveBeenCalledTimes([1, 4][index] ?? 0);
      expect(server.requests).toHaveLength(11);
      await client.shutdown();
    }
  });

  it("polls with a transport that cannot stream, with one warning", async () => {
    const logger = new LogRecorder();
    const server = new ScriptedServer(on);
    await readyClient(server, { streaming: true, pollIntervalMs: 1_000, logger });
    await vi.advanceTimersByTimeAsync(3_000);
    expect(server.requests).toHaveLength(4);
    expect(logger.lines).toEqual([expect.stringContaining("method open")]);
  });

  it("closes its stream at shutdown, without a message", async () => {
    const server = new StreamingServer(on, off);
    const debug = vi.fn();
    const client = await listening(server, { logger: { ...noopLogger, debug } });
    const events = eventsOf(client);
    await client.shutdown();
    expect(server.opened[0]?.signal.aborted).toBe(true);
    server.announce('W/"off"');
    await vi.advanceTimersByTimeAsync(1_000_000);
    expect(events).toEqual(["shutdown"]);
    expect(server.requests).toHaveLength(1);
    expect(server.opened).toHaveLength(1);
    expect(debug).not.toHaveBeenCalledWith("The stream failed", expect.anything());
  });
});
