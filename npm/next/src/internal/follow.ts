import { useRouter } from "next/navigation.js";
import { useEffect, useRef } from "react";

/**
 * Has the server render anew whenever its flags are others than those that the page shows. It tells so at `stream`; the
 * browser connects again by itself if the connection is lost.
 */
export function Follow({ stream, shown, whom }: { stream: string; shown: string; whom: string }) {
  const router = useRouter();
  const latest = useRef(shown);
  useEffect(() => {
    latest.current = shown;
  }, [shown]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the server answers each connection for one subject.
  useEffect(() => {
    const events = new EventSource(stream);
    events.onmessage = ({ data }) => {
      if (data !== latest.current) {
        router.refresh();
      }
    };
    return () => events.close();
  }, [stream, whom, router]);
  return null;
}
