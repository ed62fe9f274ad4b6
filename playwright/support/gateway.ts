import { once } from "node:events";
import { createServer, request, type ServerResponse } from "node:http";
import { freePort } from "./port.ts";
import type { Server } from "./server.ts";

const events = "/dashboard/events";

/** A proxy in front of a server, which can lose the server's stream of events. */
export class Gateway implements AsyncDisposable {
  readonly url: string;
  /** The number of requests for the stream that were refused. */
  refusals = 0;
  readonly #streams = new Set<ServerResponse>();
  #isCut = false;
  readonly #proxy = createServer((incoming, outgoing) => {
    const { method, headers, url } = incoming;
    if (url === events) {
      if (this.#isCut) {
        this.refusals += 1;
        outgoing.writeHead(502).end();
        return;
      }
      this.#streams.add(outgoing);
    }
    const forwarded = request(this.#server.url + url, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on("error", () => outgoing.destroy());
    outgoing.on("close", () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  readonly #server: Server;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.url = `http://127.0.0.1:${port}`;
    this.#proxy.listen(port, "127.0.0.1");
  }

  static async start(server: Server): Promise<Gateway> {
    const gateway = new Gateway(server, await freePort());
    await once(gateway.#proxy, "listening");
    return gateway;
  }

  /** Ends the streams, and refuses new ones until `restore`. */
  cut(): void {
    this.#isCut = true;
    for (const stream of this.#streams) {
      stream.destroy();
    }
  }

  restore(): void {
    this.#isCut = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#proxy.close();
    this.#proxy.closeAllConnections();
    await once(this.#proxy, "close");
  }
}
