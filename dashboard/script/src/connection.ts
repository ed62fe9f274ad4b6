import { Hub, type Listener } from "./hub.ts";

/** Reports whether the page is visible. */
export type Look = (looks: boolean) => void;

/**
 * Connects a page to the stream that all pages of the browser share. Separate streams would soon use up the six
 * connections that browsers allow for each server. Without shared workers (Chrome on Android), each page has its own
 * stream while it is visible.
 */
export function hear(listener: Listener): Look {
  if (!("SharedWorker" in window)) {
    const hub = new Hub();
    return (looks) => hub.look(listener, looks);
  }
  const { port } = new SharedWorker(import.meta.url, { type: "module", name: "pennon" });
  port.onmessage = ({ data }) => listener(data);
  return (looks) => port.postMessage(looks);
}
