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
 * Has the server render the page again whenever its flags differ from those that the page shows. It learns of that from
 * `stream`; the browser reconnects if the connection is lost.
 */
export function Follow({ stream, shown, context }: Props) {
  const router = useRouter();
  const latest = useRef(shown);
  useEffect(() => {
    latest.current = shown;
  }, [shown]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the server answers each connection for one context.
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
