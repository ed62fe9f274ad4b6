import type { EvaluationContext, Snapshot } from "@pennon/core";
import type { Session } from "./session.js";

/** The interval of heartbeats, which keep proxies from closing an idle connection. */
const BEAT_MS = 20_000;

/** Returns server-sent events with snapshots for this context: one at the start, and one for each change. */
export function eventsOf<Custom extends object>(
  session: Session,
  context: EvaluationContext<Custom> | null | undefined,
): ReadableStream<Uint8Array> {
  const flags = session.client.withContext(context);
  const encoder = new TextEncoder();
  const held: (() => void)[] = [];
  const release = () => held.forEach((letGo) => void letGo());
  return new ReadableStream({
    start(controller) {
      let last: string | undefined;
      const say = (text: string) => controller.enqueue(encoder.encode(text));
      const tell = () => {
        const event = eventOf(flags.snapshot());
        if (event !== last) {
          last = event;
          say(event);
        }
      };
      tell();
      const beat = setInterval(() => say(":\n\n"), BEAT_MS);
      held.push(session.client.subscribe(tell), () => clearInterval(beat));
      held.push(
        session.onEnd(() => {
          release();
          controller.close();
        }),
      );
    },
    cancel: release,
  });
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
