import { Hub, type Listener } from "./hub.ts";

/** Says whether somebody looks at the page. */
export type Look = (looks: boolean) => void;

/**
 * Connects a page to the one stream that all pages of the browser share: a stream each would soon use up the six connections
 * that browsers have for a server. Where pages cannot share (Chrome on Android), a page has a stream while one looks at it.
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
