import type { EvaluationContext, Snapshot } from "@pennon/core";
import type { Session } from "./session.js";

/** How often something is said although there is nothing to say, so that no proxy takes the connection for dead. */
const BEAT_MS = 20_000;

/** Server-sent events, each with a snapshot for this subject: one to begin with, and one whenever it is another. */
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

/** A server-sent event with this snapshot. */
export function eventOf(snapshot: Snapshot): string {
  return `data: ${JSON.stringify(snapshot)}\n\n`;
}

/** The response with these server-sent events. */
export function eventStream(events: ReadableStream<Uint8Array> | string): Response {
  return new Response(events, {
    headers: {
      "Content-Type": "text/event-stream",
      // Whoever compresses or buffers would hold changes back.
      "Cache-Control": "no-store, no-transform",
      "X-Accel-Buffering": "no",
      // When it ends, because the server does, its connection is of no use for another one.
      Connection: "close",
    },
  });
}
