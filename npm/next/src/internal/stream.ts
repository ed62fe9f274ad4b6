import type { EvaluationContext, Snapshot } from "@pennon/core";
import type { SharedClient } from "./shared-client.js";

/** The interval of heartbeats, which keep proxies from closing an idle connection. */
const HEARTBEAT_MS = 20_000;

/**
 * Returns server-sent events with snapshots for this context: one at the start, and one for each change. A slow reader
 * skips all but the newest.
 *
 * Before the first read, the stream holds neither a timer nor a subscription, because Next.js does not cancel a stream
 * that it never reads: for a HEAD request, or for a client that has left.
 */
export function eventsOf<Custom extends object>(
  shared: SharedClient,
  context: EvaluationContext<Custom> | null | undefined,
): ReadableStream<Uint8Array> {
  const flags = shared.client.withContext(context);
  const encoder = new TextEncoder();
  const cleanups: (() => void)[] = [];
  const release = () => cleanups.forEach((cleanUp) => void cleanUp());
  let newest = "";
  let last = "";

  // Called for each read that finds no event.
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const write = (text: string) => controller.enqueue(encoder.encode(text));
    const isRead = () => controller.desiredSize === 0;
    const sendIfChanged = () => {
      if (newest !== last && isRead()) {
        last = newest;
        write(last);
      }
    };
    const update = () => {
      newest = eventOf(flags.snapshot());
      sendIfChanged();
    };
    if (newest !== "") {
      sendIfChanged();
      return;
    }
    update();
    const heartbeat = setInterval(() => isRead() && write(":\n\n"), HEARTBEAT_MS);
    cleanups.push(shared.client.subscribe(update), () => clearInterval(heartbeat));
    cleanups.push(
      shared.onEnd(() => {
        release();
        controller.close();
      }),
    );
  };
  return new ReadableStream({ pull, cancel: release }, { highWaterMark: 0 });
}

/** Returns a server-sent event with this snapshot. */
export function eventOf(snapshot: Snapshot): string {
  return `data: ${JSON.stringify(snapshot)}\n\n`;
}

/** Returns the response with these server-sent events. */
export function eventStream(events: ReadableStream<Uint8Array> | string): Response {
  return new Response(events, {
    headers: {
      "Content-Type": "text/event-stream",
      // A proxy that compresses or buffers would delay changes.
      "Cache-Control": "no-store, no-transform",
      "X-Accel-Buffering": "no",
      // The stream ends when the server stops, so its connection must not be reused.
      Connection: "close",
    },
  });
}
