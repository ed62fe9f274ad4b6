import type {
  FeatureFlagsClientOptions,
  Transport,
  TransportRequest,
  TransportResponse,
} from "@pennon/core";

/** A flag as `GET /sdk/v1/config` returns it. */
export interface FlagConfig {
  readonly key: string;
  readonly enabled: boolean;
  readonly rules: readonly unknown[];
  readonly rollout: unknown;
  readonly ttlOverrideSeconds?: number | null;
}

/** The real function, which no test has replaced yet. */
const wait = globalThis.setImmediate;

/** Waits in real time until a client, whose engine is being loaded, sets a fake timer. */
export async function timerIsSet(): Promise<void> {
  const fake = globalThis.setTimeout;
  let isSet = false;
  // No spy, because `vi.restoreAllMocks()` would bring the fake timers back.
  const set = (...given: Parameters<typeof setTimeout>) => {
    isSet = true;
    return fake(...given);
  };
  globalThis.setTimeout = Object.assign(set, fake);
  while (!isSet) {
    await new Promise((resolve) => wait(resolve));
  }
  globalThis.setTimeout = fake;
}

type Responder = (request: TransportRequest) => TransportResponse | Promise<TransportResponse>;

/** A server whose responses follow a script. It repeats the last one. */
export class ScriptedServer implements Transport {
  readonly requests: TransportRequest[] = [];
  readonly #waiting = new Map<number, () => void>();
  #script: readonly Responder[];
  #line = 0;

  constructor(...script: readonly Responder[]) {
    this.#script = script;
  }

  /** Continues with another script. */
  respondWith(...script: readonly Responder[]): void {
    this.#script = script;
    this.#line = 0;
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    this.requests.push(request);
    this.#waiting.get(this.requests.length)?.();
    const answer = this.#script[Math.min(this.#line, this.#script.length - 1)];
    this.#line += 1;
    return answer?.(request) ?? Promise.reject(new Error("the script is empty"));
  }

  /** Waits until a client that is being initialized has sent its first request and, with fake timers, timed it. */
  async firstRequest(): Promise<void> {
    // The client sends it while the engine is being loaded.
    await Promise.all([this.requested(1), timerIsSet()]);
  }

  /** Waits until this number of requests has arrived in total. */
  async requested(count: number): Promise<void> {
    if (this.requests.length < count) {
      await new Promise<void>((resolve) => this.#waiting.set(count, resolve));
    }
  }

  /** The `If-None-Match` of each request. */
  get tags(): readonly (string | undefined)[] {
    return this.requests.map(({ headers }) => headers["If-None-Match"]);
  }
}

/** Returns the options of a client of this server. It does not poll, unless a test enables that. */
export function optionsFor(transport: Transport, options: Partial<FeatureFlagsClientOptions> = {}) {
  return { sdkKey: "pnk_test", transport, pollIntervalMs: 0, ...options };
}

export function configuration(flags: readonly FlagConfig[], etag = 'W/"1"'): Responder {
  return document({ flags }, etag);
}

/** A config document of any form. */
export function document(config: unknown, etag = 'W/"1"'): Responder {
  return () => ({
    status: 200,
    headers: new Headers({ ETag: etag }),
    body: JSON.stringify(config),
  });
}

export function status(code: number, headers: Record<string, string> = {}): Responder {
  return () => ({ status: code, headers: new Headers(headers) });
}

export function malformed(): Responder {
  return () => ({ status: 200, headers: new Headers({ ETag: "bad" }), body: "<html>" });
}

export function unreachable(): Responder {
  return () => Promise.reject(new TypeError("fetch failed"));
}

/** A response that the test sends later, even if no request waits for it any more. */
export function held(): {
  readonly answer: Responder;
  readonly release: (answer: Responder) => Promise<void>;
} {
  let resolve: (response: TransportResponse | Promise<TransportResponse>) => void = () => {};
  const response = new Promise<TransportResponse>((settle) => {
    resolve = settle;
  });
  let received: TransportRequest | undefined;
  return {
    answer: (request) => {
      received = request;
      return response;
    },
    release: async (answer) => {
      if (received !== undefined) {
        resolve(answer(received));
      }
      await response.catch(() => {});
    },
  };
}

export function flag(key: string, enabled = true, more: Partial<FlagConfig> = {}): FlagConfig {
  return { key, enabled, rules: [], rollout: null, ttlOverrideSeconds: null, ...more };
}

/** A flag that is off for one country. */
export function flagWithRule(key: string, country: string): FlagConfig {
  const condition = {
    attribute: "country",
    operator: "==",
    valueType: "string",
    valueString: country,
  };
  return flag(key, true, {
    rules: [{ priority: 1, logic: "and", value: false, conditions: [condition] }],
  });
}

export function flagWithRollout(key: string, percentage: number): FlagConfig {
  return flag(key, true, { rollout: { percentage, strategy: "per_user" } });
}
