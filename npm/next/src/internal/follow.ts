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

/**
 * Refreshes the page whenever the flags in `stream` differ from those that the page shows. The browser reconnects if
 * the connection is lost.
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
    const events = new EventSource(stream);
    let timer: ReturnType<typeof setTimeout> | undefined;
    events.onmessage = ({ data }) => {
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
    };
    return () => {
      clearTimeout(timer);
      events.close();
    };
  }, [stream, context, router]);
  return null;
}
