import { Hub, type Listener } from "./hub.ts";

/** Reports whether the page is visible. */
export type Look = (looks: boolean) => void;

/**
 * Connects a page to the stream that all pages of the browser share. Without sharing, the pages would soon use up the
 * six connections that browsers allow for each server. Where shared workers do not exist (Chrome on Android), a page
 * has its own stream while it is visible.
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
