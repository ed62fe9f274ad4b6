import type { TransportRequest, TransportStream } from "@pennon/core";
import { ScriptedServer } from "./scripted.ts";

/** A server with a stream, whose events the tests send. */
export class StreamingServer extends ScriptedServer {
  readonly opened: TransportRequest[] = [];
  /** The response that refuses the next streams. */
  refusals: number[] = [];
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  open(request: TransportRequest): Promise<TransportStream> {
    this.opened.push(request);
    const status = this.refusals.shift();
    if (status !== undefined) {
      return Promise.resolve({ status, headers: new Headers(), body: null });
    }
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
    });
    request.signal.addEventListener("abort", () => this.disconnect());
    const headers = new Headers({ "Content-Type": "text/event-stream; charset=utf-8" });
    return Promise.resolve({ status: 200, headers, body });
  }

  write(text: string): void {
    this.#controller?.enqueue(new TextEncoder().encode(text));
  }

  announce(etag: string, more: object = {}): void {
    const data = JSON.stringify({ etag, ...more });
    this.write(`event: config\nid: ${etag.length}\ndata: ${data}\n\n`);
  }

  end(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }

  disconnect(): void {
    this.#controller?.error(new Error("connection lost"));
    this.#controller = undefined;
  }
}
