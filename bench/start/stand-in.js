// A local stand-in for all services and for the site with the pages.

import { once } from "node:events";
import { createServer } from "node:http";
import { gzipSync } from "node:zlib";
import {
  growthBook,
  launchDarkly,
  pennon,
  pennonBootstrap,
  pennonRemote,
  unleash,
} from "./flags.js";

const JAVASCRIPT = "text/javascript";
const JSON_TYPE = "application/json";

/** A public key of Pennon. */
export const PUBLIC_KEY = `pnp_${"p".repeat(43)}`;

/** The responses of the services, by the start of the path. */
const answers = [
  ["/sdk/v1/config", pennon],
  [`/sdk/v1/public/${PUBLIC_KEY}/config`, pennon],
  [`/sdk/v1/public/${PUBLIC_KEY}/evaluate/all`, pennonRemote],
  ["/sdk/v1/bootstrap", pennonBootstrap],
  [`/sdk/v1/public/${PUBLIC_KEY}/bootstrap`, pennonBootstrap],
  ["/api/features/", growthBook],
  ["/sdk/evalx/", launchDarkly],
  ["/api/frontend", unleash],
  // For processes, which need few flags.
  ["/one/sdk/v1/config", { ...pennon, flags: pennon.flags.slice(0, 1) }],
  ["/one/api/features/", { ...growthBook, features: first(growthBook.features) }],
].map(([start, body]) => [start, content(JSON_TYPE, JSON.stringify(body))]);

/** A server on a port of its own, which records its responses. */
export class StandIn {
  #server;
  #files = new Map();
  /** The responses since the last call of `reset`: method, path, and bytes of the body. */
  responses = [];

  static async start() {
    const standIn = new StandIn();
    standIn.#server = createServer((request, response) => standIn.#respond(request, response));
    standIn.#server.listen(0, "127.0.0.1");
    await once(standIn.#server, "listening");
    return standIn;
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  /** Serves a page at this path. */
  addPage(path, html) {
    this.#files.set(path, content("text/html; charset=utf-8", html));
  }

  addScript(path, script) {
    this.#files.set(path, content(JAVASCRIPT, script));
  }

  reset() {
    this.responses = [];
  }

  stop() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #respond({ method, url }, response) {
    const { pathname } = new URL(url, this.url);
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.setHeader("Access-Control-Allow-Headers", "*, Authorization");
    response.setHeader("Access-Control-Expose-Headers", "*");
    response.setHeader("Timing-Allow-Origin", "*");
    if (method === "OPTIONS") {
      this.#record(method, pathname, 0);
      response.writeHead(204).end();
      return;
    }
    const found =
      this.#files.get(pathname) ?? answers.find(([start]) => pathname.startsWith(start))?.[1];
    this.#record(method, pathname, found?.body.length ?? 0);
    if (found === undefined) {
      response.writeHead(method === "POST" ? 202 : 404).end();
      return;
    }
    response.setHeader("Content-Type", found.type);
    response.setHeader("Content-Encoding", "gzip");
    response.setHeader("ETag", '"1"');
    response.end(found.body);
  }

  #record(method, path, bytes) {
    this.responses.push({ method, path, bytes });
  }
}

/** Returns an object with the first property of this one. */
function first(object) {
  return Object.fromEntries(Object.entries(object).slice(0, 1));
}

function content(type, text) {
  return { type, body: gzipSync(text, { level: 9 }) };
}
