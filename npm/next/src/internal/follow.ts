import { useRouter } from "next/navigation.js";
import { useEffect, useRef } from "react";

interface Props {
  readonly stream: string;
  /** The snapshot that the page shows, as JSON. */
  readonly shown: string;
  /** The context, as JSON. */
  readonly context: string;
}

/**
 * Refreshes the page whenever the flags in `stream` differ from those that the page shows. The browser reconnects if
 * the connection is lost.
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
    events.onmessage = ({ data }) => {
      if (data !== latest.current) {
        router.refresh();
      }
    };
    return () => events.close();
  }, [stream, context, router]);
  return null;
}
