import { Hub, type Listener } from "./hub.ts";

/** Reports whether the page is visible. */
export type SetVisible = (isVisible: boolean) => void;

/**
 * Connects a page to the stream that all pages of the browser share. Separate streams would soon use up the six
 * connections that browsers allow for each server. Without shared workers (Chrome on Android), each page has its own
 * stream while it is visible.
 */
export function connect(listener: Listener): SetVisible {
  if (!("SharedWorker" in window)) {
    const hub = new Hub();
    return (isVisible) => hub.setVisible(listener, isVisible);
  }
  const { port } = new SharedWorker(import.meta.url, { type: "module", name: "pennon" });
  port.onmessage = ({ data }) => listener(data);
  return (isVisible) => port.postMessage(isVisible);
}
