import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { cases, configurations, remote } from "./vectors.ts";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

/** A site to serve, with its settings. */
export interface Site {
  readonly folder: string;
  readonly policy?: string | undefined;
  /** The script that the page loads, if the folder has no page. */
  readonly script?: string | undefined;
}

/** The SDK key of the flags that `FakeServer.change` changes. */
export const LIVE = "live";

/**
 * A stand-in for the Pennon server. Serves the config documents and cases of the test vectors, and a site if one is
 * given.
 */
export class FakeServer {
  readonly #http: Server;
  readonly #site: Site | undefined;
  readonly #subscribers = new Set<ServerResponse>();
  #live: string | undefined;
  #revision = 1;
  /** The paths of the site that have been requested. */
  readonly requestedPaths: string[] = [];
  /** The number of requests for a config document by clients that have none yet. */
  firstFetches = 0;

  private constructor(site: Site | undefined) {
    this.#site = site;
    this.#http = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(site?: Site, port = 0): Promise<FakeServer> {
    const server = new FakeServer(site);
    server.#http.listen(port, "127.0.0.1");
    await once(server.#http, "listening");
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  /** Serves these flags to clients with the key `LIVE`, and notifies those that have a stream open. */
  change(flags: readonly unknown[]): void {
    this.#live = JSON.stringify({ flags });
    this.#revision += 1;
    for (const subscriber of this.#subscribers) {
      this.#notify(subscriber);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.closeAllConnections();
    this.#http.close();
    await once(this.#http, "close");
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? "/", this.url).pathname;
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.setHeader(
      "Access-Control-Allow-Headers",
      "Authorization, Content-Type, If-None-Match, X-Pennon-Client",
    );
    response.setHeader("Access-Control-Expose-Headers", "ETag");
    if (request.method === "OPTIONS") {
      response.writeHead(204).end();
    } else if (path === "/cases") {
      json(response, JSON.stringify(cases));
    } else if (path === "/sdk/v1/config") {
      // Each config document has a second key, for a server.
      const sdkKey = request.headers.authorization?.replace(/^Bearer (secret-)?/, "") ?? "";
      this.firstFetches += request.headers["if-none-match"] === undefined ? 1 : 0;
      if (sdkKey === LIVE) {
        json(response, this.#live, this.#tag);
      } else {
        json(response, configurations.get(sdkKey));
      }
    } else if (path === "/sdk/v1/stream" && request.headers.authorization === `Bearer ${LIVE}`) {
      response.setHeader("Content-Type", "text/event-stream");
      this.#subscribers.add(response);
      response.on("close", () => this.#subscribers.delete(response));
      this.#notify(response);
    } else if (path === "/sdk/v1/evaluate") {
      json(response, JSON.stringify(remote));
    } else {
      await this.#page(path, response);
    }
  }

  get #tag(): string {
    return `"${this.#revision}"`;
  }

  #notify(subscriber: ServerResponse): void {
    subscriber.write(`data: ${JSON.stringify({ etag: this.#tag })}\n\n`);
  }

  async #page(path: string, response: ServerResponse): Promise<void> {
    const { folder = "", policy, script } = this.#site ?? {};
    const file = path === "/" ? "index.html" : normalize(path);
    const own = path === "/" && script !== undefined;
    const content = own ? page(script) : await readFile(join(folder, file)).catch(() => undefined);
    if (content === undefined) {
      response.writeHead(404).end();
      return;
    }
    this.requestedPaths.push(path);
    if (policy !== undefined) {
      response.setHeader("Content-Security-Policy", policy);
    }
    response.setHeader("Content-Type", types[extname(file)] ?? "application/octet-stream");
    response.end(content);
  }
}

function page(script: string): string {
  return `<!doctype html><link rel="icon" href="data:,"><output></output>
    <script type="module" src="/${script}"></script>`;
}

function json(response: ServerResponse, body: string | undefined, tag = '"1"'): void {
  response.setHeader("Content-Type", "application/json");
  response.setHeader("ETag", tag);
  response.writeHead(body === undefined ? 401 : 200).end(body);
}
