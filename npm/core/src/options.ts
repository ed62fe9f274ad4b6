import type { Cache } from "./cache.js";
import { DEFAULTS } from "./engine/protocol.js";
import { FeatureFlagsError } from "./errors.js";
import type { Evaluation, EvaluationContext } from "./evaluation.js";
import type { EventEmitter } from "./events.js";
import { evaluationOf } from "./internal/flags.js";
import { type Logger, noopLogger, safeLogger } from "./logger.js";
import type { Configuration, Snapshot, SubjectFlag } from "./snapshot.js";
import type { Store } from "./store.js";
import { fetchTransport, type Transport } from "./transport.js";
import { VERSION } from "./version.js";

export interface FeatureFlagsClientOptions {
  /** The key of one environment. In a browser bundle everybody can read it. */
  readonly sdkKey: string | undefined;
  /** Where the service is. Default `http://127.0.0.1:3000`. */
  readonly baseUrl?: string | undefined;
  /** The pause between two polls, in milliseconds. 0 turns polling off; less than 1000 logs a warning. Default 30000. */
  readonly pollIntervalMs?: number | undefined;
  /**
   * The time to live (TTL) of a flag that the service has not confirmed again, in milliseconds. A flag's own override in
   * its environment takes precedence. Default 60000.
   */
  readonly cacheTtlMs?: number | undefined;
  /**
   * The same as `cacheTtlMs`, **in milliseconds despite the name**: 30 means 30 ms.
   *
   * @deprecated Use `cacheTtlMs`.
   */
  readonly cacheTtlSeconds?: number | undefined;
  /** How many attempts follow a failed one: 1 to 10. Default 3. */
  readonly retries?: number | undefined;
  /** The wait before the first of them, in milliseconds; it doubles each time, up to 30 s. Default 1000. */
  readonly retryDelayMs?: number | undefined;
  /** How long one attempt may take, in milliseconds. Default 3000. */
  readonly timeoutMs?: number | undefined;
  /** A second place to keep flags in. By default they are kept in memory only. */
  readonly cache?: Cache | undefined;
  /**
   * A place for the whole configuration, rules included: a start without the service then answers for every context. What is
   * stored is served past its time to live, until the service answers or `maxAgeSeconds` of the store are over, a day by
   * default. `localStorageStore()`, `fileStore(path)` of `@pennon/core/file-store`, or an object of your own. By default
   * nothing is stored.
   */
  readonly store?: Store | undefined;
  /** How requests are sent. Default `fetchTransport`. */
  readonly transport?: Transport | undefined;
  /** Where the client writes what it does. Default `noopLogger`; there is a `consoleLogger` too. */
  readonly logger?: Logger | undefined;
  /** Where lifecycle events go, beside the listeners of `client.on`. */
  readonly eventEmitter?: EventEmitter | undefined;
  /**
   * What to begin with, so that no request is needed: what `client.snapshot()` gave somewhere else, or the body of
   * `GET /sdk/v1/config`, as an object or as text. The flags of a snapshot can be read before `initialize()`.
   */
  readonly bootstrap?: Snapshot | Configuration | string | undefined;
  /**
   * The values to use when a flag is missing or stale, by key. For other flags `isEnabled` and `evaluate` then throw
   * `FLAG_NOT_FOUND`.
   */
  readonly fallbacks?: Readonly<Record<string, boolean>> | undefined;
  /**
   * Whether flags are served past their time to live for as long as the service is out of reach. (Not if it refuses the
   * key: then they end as usual.) Default false.
   */
  readonly staleIfError?: boolean | undefined;
  /**
   * Whether to listen for changes, so that they arrive at once, and to poll only while that does not work. It keeps a Node
   * process alive until `shutdown()`. Default false.
   */
  readonly streaming?: boolean | undefined;
  /**
   * Reports the number of evaluations of each flag to the service, every 30 to 60 seconds and without any context.
   * Default false.
   */
  readonly reportUsage?: boolean | undefined;
  /**
   * Is called with every evaluation: of `isEnabled`, `getValue`, `evaluate`, `read`, `evaluateRemote`, and the methods of a
   * reader of the same names, also where the answer is a default; not of `evaluateAll` and `readAll`, nor where a read throws
   * or gives undefined. Nothing of it is stored or sent. What it throws is logged.
   */
  readonly onEvaluate?: ((event: EvaluateEvent) => void) | undefined;
}

/** How long `initialize()` tries. */
export interface InitializeOptions {
  /**
   * The milliseconds after which `initialize()` rejects, unless `cache` has flags that are fresh enough. By default it takes
   * as long as all its attempts: with the default options, up to 19 seconds where nothing answers.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * The reaction to flags that cannot be fetched, so that an application may start before its service. By default
   * `initialize()` rejects once all attempts have failed, and nothing more is attempted until it is called again.
   *
   * - `"background"`: it rejects as by default, and the client goes on trying by itself until it has flags. Then it emits
   *   `ready`.
   * - `"forever"`: it waits until the client has flags. It rejects before only after `timeoutMs`, where the key is refused,
   *   and where the answer is no config document; the client goes on trying in these cases too.
   *
   * Attempts are up to 30 seconds apart. A refused key is tried again after one minute, and later every ten.
   */
  readonly retry?: "background" | "forever" | undefined;
}

/** An evaluation, as `onEvaluate` gets it. */
export interface EvaluateEvent extends Evaluation {
  readonly key: string;
  /** The context by which the flag was evaluated; undefined if there was none. */
  readonly context: EvaluationContext | undefined;
}

/** Options that have been checked, every default filled in. */
export type Settings = Readonly<ReturnType<typeof parseOptions>>;

/** Checks options as JavaScript may pass them, and throws `INVALID_OPTIONS` with a sentence that tells what is expected. */
export function parseOptions(options: FeatureFlagsClientOptions) {
  if (typeof options !== "object" || options === null) {
    throw invalid("the options must be an object with at least an sdkKey");
  }
  return {
    sdkKey: sdkKey(options.sdkKey),
    clientName: clientName(options),
    baseUrl: baseUrl(options.baseUrl),
    pollIntervalMs: number(options, "pollIntervalMs", 0),
    ttlMs: ttlMs(options),
    retries: retries(options.retries),
    retryDelayMs: number(options, "retryDelayMs", 0),
    timeoutMs: number(options, "timeoutMs", 1),
    cache: plugIn(options, "cache", ["get", "set", "delete", "clear"]),
    store: store(options),
    transport: plugIn(options, "transport", ["send"]) ?? fetchTransport,
    logger: safeLogger(plugIn(options, "logger", ["debug", "info", "warn", "error"]) ?? noopLogger),
    eventEmitter: plugIn(options, "eventEmitter", ["on", "emit", "removeAllListeners"]),
    ...bootstrap(options.bootstrap),
    fallbacks: fallbacks(options.fallbacks),
    staleIfError: flag(options, "staleIfError"),
    streaming: flag(options, "streaming"),
    reportUsage: flag(options, "reportUsage"),
    onEvaluate: onEvaluate(options.onEvaluate),
  };
}

/** Checks the options of `initialize()`, and throws `INVALID_OPTIONS`. */
export function parseInitializeOptions(options: InitializeOptions): InitializeOptions {
  const { timeoutMs, retry }: Partial<Record<keyof InitializeOptions, unknown>> = options ?? {};
  const isTime = typeof timeoutMs === "number" && Number.isFinite(timeoutMs) && timeoutMs >= 0;
  if (timeoutMs !== undefined && !isTime) {
    throw invalid("timeoutMs of initialize() must be a number of milliseconds, at least 0");
  }
  if (retry !== undefined && retry !== "background" && retry !== "forever") {
    throw invalid('retry of initialize() must be "background" or "forever", if it is given');
  }
  return { timeoutMs, retry };
}

/** Says what is allowed, but seldom meant. */
export function warnOfOptions({
  ttlMs,
  pollIntervalMs,
  streaming,
  transport,
  logger,
}: Settings): void {
  if (ttlMs < 1_000) {
    logger.warn(
      `cacheTtlMs is ${ttlMs}: flags expire in less than a second. cacheTtlSeconds is in milliseconds, too`,
    );
  } else if (ttlMs < pollIntervalMs) {
    logger.warn(
      `cacheTtlMs (${ttlMs} ms) is shorter than pollIntervalMs (${pollIntervalMs} ms): flags will be fetched more often than you poll`,
    );
  }
  if (pollIntervalMs > 0 && pollIntervalMs < 1_000) {
    logger.warn(
      `pollIntervalMs is ${pollIntervalMs} ms: each client asks the service more often than once a second; streaming brings changes sooner with fewer requests`,
    );
  }
  if (streaming && transport.open === undefined) {
    logger.warn("streaming needs a transport with the method open: the client will poll instead");
  }
}

function sdkKey(key: unknown): string {
  if (typeof key !== "string" || !/^[\x21-\x7e]+$/.test(key)) {
    throw invalid(
      "sdkKey must be the key that the service showed when the environment was created, such as pnk_…; is the variable set that it comes from?",
    );
  }
  return key;
}

/** The name that a package of Pennon's has put into the options of a client of its own: see npm/client-name.js. */
function clientName(options: object): string {
  const name = (options as Record<symbol, unknown>)[Symbol.for("pennon.client")];
  return typeof name === "string" ? name : `@pennon/core/${VERSION}`;
}

function baseUrl(text: unknown = "http://127.0.0.1:3000"): string {
  const url = typeof text === "string" && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw invalid(
      "baseUrl must be an absolute http or https URL, such as https://flags.example.com",
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

function retries(count: unknown = DEFAULTS.retries): number {
  if (typeof count !== "number" || !Number.isInteger(count) || count < 1 || count > 10) {
    throw invalid("retries must be an integer from 1 to 10");
  }
  return count;
}

function onEvaluate(given: unknown): ((event: EvaluateEvent) => void) | undefined {
  if (given !== undefined && typeof given !== "function") {
    throw invalid("onEvaluate must be a function");
  }
  return given as ((event: EvaluateEvent) => void) | undefined;
}

/** Reads `cacheTtlMs`, or the same under its deprecated name. */
function ttlMs(options: FeatureFlagsClientOptions): number {
  const deprecated: unknown = options.cacheTtlSeconds ?? undefined;
  if (deprecated === undefined) {
    return number(options, "cacheTtlMs", 1);
  }
  if (options.cacheTtlMs !== undefined) {
    throw invalid("cacheTtlMs and cacheTtlSeconds are the same option: set cacheTtlMs only");
  }
  return milliseconds("cacheTtlSeconds", deprecated, 1);
}

type NumberOption = Exclude<keyof typeof DEFAULTS, "retries">;

function number(options: FeatureFlagsClientOptions, name: NumberOption, least: number): number {
  return milliseconds(name, options[name] ?? DEFAULTS[name], least);
}

function milliseconds(name: string, value: unknown, least: number): number {
  if (typeof value !== "number" || !Number.isFinite(value) || value < least) {
    throw invalid(`${name} must be a number of milliseconds, at least ${least}`);
  }
  return Math.ceil(value);
}

function flag(
  options: FeatureFlagsClientOptions,
  name: "staleIfError" | "streaming" | "reportUsage",
): boolean {
  const value: unknown = options[name] ?? false;
  if (typeof value !== "boolean") {
    throw invalid(`${name} must be true or false`);
  }
  return value;
}

function fallbacks(given: unknown = {}): ReadonlyMap<string, Evaluation> {
  const entries = typeof given === "object" && given !== null ? Object.entries(given) : undefined;
  if (!entries?.every(([, enabled]) => typeof enabled === "boolean")) {
    throw invalid("fallbacks must be an object with true or false for each key of a flag");
  }
  return new Map(entries.map(([key, enabled]) => [key, evaluationOf(enabled, "fallback")]));
}

interface Bootstrap {
  readonly snapshot?: Snapshot;
  /** The text of a configuration to begin with. */
  readonly configuration?: string | undefined;
}

function bootstrap(given: unknown): Bootstrap {
  if (given === undefined) {
    return {};
  }
  if (typeof given === "string") {
    return { configuration: configurationText(given) };
  }
  const { version, flags, subject, config } = (given ?? {}) as Partial<Snapshot>;
  if (version === undefined && Array.isArray(flags)) {
    return { configuration: JSON.stringify(given) };
  }
  if (!areAnswers(flags) || !(subject === undefined || areAnswers(subject?.flags))) {
    throw invalid(
      "bootstrap must be what client.snapshot() gave, or the body of GET /sdk/v1/config as an object or as text",
    );
  }
  if (version !== 1) {
    throw invalid("bootstrap is a snapshot of a client of another version");
  }
  return { snapshot: given as Snapshot, configuration: config && JSON.stringify(config) };
}

/** Checks the text of a config document. */
function configurationText(text: string): string {
  let parsed: Partial<Snapshot> | null;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw invalid(`bootstrap is text, but not JSON: ${String(cause)}`);
  }
  if (parsed?.version !== undefined) {
    throw invalid("bootstrap is a snapshot as text: pass JSON.parse() of it");
  }
  if (!Array.isArray(parsed?.flags)) {
    throw invalid("bootstrap is text, but not the body of GET /sdk/v1/config: it has no flags");
  }
  return text;
}

function areAnswers(flags: readonly Partial<SubjectFlag>[] | undefined): boolean {
  return (
    Array.isArray(flags) &&
    flags.every((flag) => typeof flag?.key === "string" && typeof flag.enabled === "boolean")
  );
}

function store(options: FeatureFlagsClientOptions): Store | undefined {
  const store = plugIn(options, "store", ["load", "save"]);
  const age: unknown = store?.maxAgeSeconds ?? 0;
  if (typeof age !== "number" || !Number.isFinite(age) || age < 0) {
    throw invalid("maxAgeSeconds of store must be a number of seconds, at least 0");
  }
  return store;
}

function plugIn<N extends "cache" | "store" | "transport" | "logger" | "eventEmitter">(
  options: FeatureFlagsClientOptions,
  name: N,
  methods: readonly string[],
): FeatureFlagsClientOptions[N] {
  const plugged = options[name];
  if (plugged === undefined) {
    return undefined;
  }
  const missing = methods.find(
    (method) =>
      typeof (plugged as unknown as Partial<Record<string, unknown>> | null)?.[method] !==
      "function",
  );
  if (missing !== undefined) {
    throw invalid(`${name} must have the method ${missing}`);
  }
  return plugged;
}

function invalid(message: string): FeatureFlagsError {
  return new FeatureFlagsError("INVALID_OPTIONS", message);
}
