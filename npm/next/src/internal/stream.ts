import type { EvaluationContext } from "@pennon/core";
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
      const say = (text: string) => controller.enqueue(encoder.encode(`${text}\n\n`));
      const tell = () => {
        const content = JSON.stringify(flags.snapshot());
        if (content !== last) {
          last = content;
          say(`data: ${content}`);
        }
      };
      tell();
      const beat = setInterval(() => say(":"), BEAT_MS);
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
