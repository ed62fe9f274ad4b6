import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Pennon } from "../../test-kit/pennon.ts";
import { createVectorFlags, type VectorCase, vectorFiles } from "./vector-flags.ts";

/** A response of the server, as it was sent. */
interface RecordedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The responses of a release of the server to each kind of request from a client. */
export interface Recording {
  readonly version: string;
  /** The flag that is on in the first configuration, and off in the second. */
  readonly switched: string;
  readonly configurations: readonly [RecordedAnswer, RecordedAnswer];
  readonly unchanged: RecordedAnswer;
  readonly refused: RecordedAnswer;
  /** The events of a stream: the first one, and the one for the second configuration. */
  readonly events: readonly [string, string];
  readonly evaluated: RecordedAnswer;
  readonly notFound: RecordedAnswer;
  readonly reported: RecordedAnswer;
  /** Evaluations of the first configuration. It does not contain archived flags. */
  readonly cases: readonly Pick<VectorCase, "key" | "context" | "expected">[];
}

const SWITCHED = "recorded_switch";
const HEADERS = ["content-type", "etag", "cache-control", "vary"];

/** Sends every kind of request to a release of the server, and records the responses. */
export async function record(pennon: Pennon, version: string): Promise<Recording> {
  const { id, sdkKey } = await pennon.request("POST", "/environments", { product: "p", name: "e" });
  const cases = [];
  for (const file of vectorFiles) {
    cases.push(...(await createVectorFlags(pennon, id, file)));
  }
  const flag = await pennon.request("POST", "/flags", {
    key: SWITCHED,
    name: "S",
    type: "boolean",
  });
  const turn = (isEnabled: boolean) =>
    pennon.request("PUT", `/flags/${flag.id}/environments/${id}`, { isEnabled });
  await turn(true);
  const fetched = (path: string, init?: RequestInit, key = sdkKey) =>
    fetch(`${pennon.url}/sdk/v1/${path}`, {
      ...init,
      headers: { ...init?.headers, Authorization: `Bearer ${key}` },
    });
  const post = (path: string, body: unknown) =>
    fetched(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    }).then(recorded);
  const first = await recorded(await fetched("config"));
  const headers = { "If-None-Match": first.headers.etag ?? "" };
  const unchanged = await recorded(await fetched("config", { headers }));
  const stream = await fetched("stream");
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  const firstEvent = (await reader?.read())?.value ?? "";
  await turn(false);
  const secondEvent = (await reader?.read())?.value ?? "";
  await reader?.cancel();
  const question = { flagKey: SWITCHED, context: {} };
  const counts = [{ flagKey: SWITCHED, reason: "flag_enabled", count: 1 }];
  return {
    version,
    switched: SWITCHED,
    configurations: [first, await recorded(await fetched("config"))],
    unchanged,
    refused: await recorded(await fetched("config", undefined, "pnk_unknown")),
    events: [firstEvent, secondEvent],
    evaluated: await post("evaluate", question),
    notFound: await post("evaluate", { ...question, flagKey: "no_such_flag" }),
    reported: await post("usage", { id: crypto.randomUUID(), counts }),
    cases: cases.map(({ key, context, expected }) => ({ key, context: context ?? null, expected })),
  };
}

async function recorded(response: Response): Promise<RecordedAnswer> {
  const headers = HEADERS.flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  const { status } = response;
  return { status, headers: Object.fromEntries(headers), body: await response.text() };
}

/** A server that responds as the recorded release did. */
export class RecordedServer {
  /** The last posted body by path. */
  readonly posted = new Map<string, unknown>();
  readonly #recording: Recording;
  readonly #http: Server;
  readonly #streams = new Set<ServerResponse>();
  #isSwitched = false;

  private constructor(recording: Recording) {
    this.#recording = recording;
    this.#http = createServer((request, response) => {
      this.#answer(request, response).catch((error) => response.destroy(error));
    });
  }

  static async start(recording: Recording): Promise<RecordedServer> {
    const server = new RecordedServer(recording);
    await new Promise<void>((resolve) => server.#http.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  /** Switches to the second configuration. */
  switch(): void {
    this.#isSwitched = true;
    for (const stream of this.#streams) {
      stream.write(this.#recording.events[1]);
    }
  }

  stop(): void {
    this.#http.close();
    this.#http.closeAllConnections();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").replace("/sdk/v1/", "");
    if (path === "stream") {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      response.write(this.#recording.events[0]);
      this.#streams.add(response);
      return;
    }
    const chunks = [];
    for await (const chunk of request) {
      chunks.push(chunk);
    }
    const text = Buffer.concat(chunks).toString();
    const body = text === "" ? undefined : JSON.parse(text);
    this.posted.set(path, body);
    const answer = this.#answerTo(path, request, body);
    response.writeHead(answer.status, answer.headers).end(answer.body);
  }

  #answerTo(path: string, { headers }: IncomingMessage, body: unknown): RecordedAnswer {
    const { configurations, unchanged, refused, evaluated, notFound, reported } = this.#recording;
    const configuration = configurations[this.#isSwitched ? 1 : 0];
    switch (path) {
      case "config":
        if (headers.authorization !== "Bearer pnk_recorded") {
          return refused;
        }
        return headers["if-none-match"] === configuration.headers.etag ? unchanged : configuration;
      case "evaluate":
        return (body as { flagKey?: unknown }).flagKey === this.#recording.switched
          ? evaluated
          : notFound;
      case "usage":
        return reported;
      default:
        return notFound;
    }
  }
}
