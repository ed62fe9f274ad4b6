import { useRouter } from "next/navigation.js";
import { useEffect, useRef } from "react";

interface Props {
  readonly stream: string;
  /** The snapshot that the page shows, as JSON. */
  readonly shown: string;
  /** The context, as JSON. */
  readonly context: string;
}

/** The number of checks after a message. The first follows after 2 s, and each waits twice as long as the previous. */
const CHECKS = 4;

/** The minimum delay before a refused stream is opened again: at first, and after several refusals. */
const RETRY_MS = 2_000;
const MAX_RETRY_MS = 30_000;

/**
 * Refreshes the page whenever the flags in `stream` differ from those that the page shows.
 *
 * A page may be older than the message that it was refreshed for: another instance may have rendered it, or it was
 * requested for an earlier message. Therefore, the page is compared with the last message several times.
 */
export function Follow({ stream, shown, context }: Props) {
  const router = useRouter();
  const latest = useRef(shown);
  useEffect(() => {
    latest.current = shown;
  }, [shown]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each connection belongs to one context.
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const close = connect(stream, (data) => {
      const compare = (checks: number) => {
        if (data !== latest.current) {
          router.refresh();
        }
        if (checks < CHECKS) {
          timer = setTimeout(compare, 2_000 * 2 ** checks, checks + 1);
        }
      };
      clearTimeout(timer);
      compare(0);
    });
    return () => {
      clearTimeout(timer);
      close();
    };
  }, [stream, context, router]);
  return null;
}

/** Calls `onMessage` for each message of the stream, until the returned function is called. */
function connect(stream: string, onMessage: (data: string) => void): () => void {
  let events: EventSource;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let delay = RETRY_MS;
  const open = () => {
    events = new EventSource(stream);
    events.onmessage = ({ data }) => {
      delay = RETRY_MS;
      onMessage(data);
    };
    events.onerror = () => {
      // The browser reconnects after a lost connection, but not after a response without a stream, such as a 502.
      if (events.readyState === EventSource.CLOSED) {
        timer = setTimeout(open, delay * (1 + Math.random()));
        delay = Math.min(2 * delay, MAX_RETRY_MS);
      }
    };
  };
  open();
  return () => {
    clearTimeout(timer);
    events.close();
  };
}
