import type { Cache } from "./cache.js";
import { DEFAULTS } from "./engine/protocol.js";
import { FeatureFlagsError } from "./errors.js";
import type { Evaluation, EvaluationContext } from "./evaluation.js";
import type { EventEmitter } from "./events.js";
import { evaluationOf } from "./internal/flags.js";
import { keyedContext } from "./internal/keyed-context.js";
import { type Logger, noopLogger, safeLogger } from "./logger.js";
import type { Configuration, Snapshot, SubjectFlag } from "./snapshot.js";
import type { Store } from "./store.js";
import { fetchTransport, type Transport } from "./transport.js";
import { VERSION } from "./version.js";

export interface FeatureFlagsClientOptions {
  /** The SDK key of one environment. In a browser bundle, everyone can read it. */
  readonly sdkKey: string | undefined;
  /** The address of the Pennon server. Default `http://127.0.0.1:3000`. */
  readonly baseUrl?: string | undefined;
  /**
   * Where flags are evaluated. Default `"local"`: the client fetches the rules, and evaluates any context in memory.
   *
   * With `"remote"`, the server evaluates all flags for one context, `context`, and the client never sees a rule. All
   * reads, including `isEnabled`, then answer for this context; `setContext` changes it. Environments that hide their
   * rules from clients require it.
   */
  readonly mode?: "local" | "remote" | undefined;
  /**
   * With `mode: "remote"`, the context for which the server evaluates flags. It is copied. Default: the context of
   * `bootstrap`, if it has one, and otherwise no attributes.
   */
  readonly context?: EvaluationContext<object> | null | undefined;
  /**
   * The pause between two polls, in milliseconds. 0 turns polling off; less than 1000 logs a warning. Default 30000.
   */
  readonly pollIntervalMs?: number | undefined;
  /**
   * The time to live (TTL) of a flag: how long it is served without confirmation by the server, in milliseconds. A
   * flag's TTL override takes precedence. Default 60000.
   */
  readonly cacheTtlMs?: number | undefined;
  /**
   * The same as `cacheTtlMs`, **in milliseconds despite the name**: 30 means 30 ms.
   *
   * @deprecated Use `cacheTtlMs`.
   */
  readonly cacheTtlSeconds?: number | undefined;
  /** The number of attempts after a failed one, 1 to 10. Default 3. */
  readonly retries?: number | undefined;
  /**
   * The delay before the first retry, in milliseconds. It doubles with each retry, up to 30 s, and is randomly
   * shortened by up to half. Default 1000.
   */
  readonly retryDelayMs?: number | undefined;
  /** The timeout of one attempt, in milliseconds. Default 3000. */
  readonly timeoutMs?: number | undefined;
  /**
   * Storage for flags without their rules and rollouts, from which the client can start if the server is down. Prefer
   * `store`, which includes them. By default flags are kept in memory only.
   */
  readonly cache?: Cache | undefined;
  /**
   * Storage for the config document, including rules. With it, the client can start without the server and evaluate
   * every context. Use `localStorageStore()`, `fileStore(path)` of `@pennon/core/file-store`, or your own object.
   * Stored flags are served past their TTL, until the server responds or they are `maxAgeSeconds` old (a day by
   * default). By default nothing is stored. Not available with `mode: "remote"`, which fetches no config document.
   */
  readonly store?: Store | undefined;
  /** Sends the requests. Default `fetchTransport`. */
  readonly transport?: Transport | undefined;
  /** Receives the log messages. Default `noopLogger`; `consoleLogger` writes to the console. */
  readonly logger?: Logger | undefined;
  /** Receives the lifecycle events, in addition to the listeners of `client.on`. */
  readonly eventEmitter?: EventEmitter | undefined;
  /**
   * The flags to start with, without a request: the result of `client.snapshot()` or of a reader's `snapshot()`, or the
   * body of `GET /sdk/v1/config`, as an object or as text. The flags of a snapshot can be read before `initialize()`.
   *
   * With `mode: "remote"`, it must be a snapshot. Evaluations for another context than the client's are left out.
   */
  readonly bootstrap?: Snapshot | Configuration | string | undefined;
  /**
   * The context of a page's first evaluations. `initialize()` then requests a bootstrap for it from the server, and
   * resolves before the engine is loaded. Evaluations for other contexts start the engine, and fail until it is loaded,
   * as with `bootstrap`. Has no effect with `bootstrap`, outside of pages, and if the server does not return one
   * within a second. With `mode: "remote"`, use `context`.
   */
  readonly bootstrapContext?: EvaluationContext<object> | undefined;
  /**
   * The values to use when a flag is missing or stale, by key. For a flag without a value here, `evaluate` and
   * `isEnabled` throw `FLAG_NOT_FOUND`.
   */
  readonly fallbacks?: Readonly<Record<string, boolean>> | undefined;
  /**
   * True to serve flags past their TTL while the server is unreachable. If the server rejects the key, flags expire
   * as usual. Default false.
   */
  readonly staleIfError?: boolean | undefined;
  /**
   * True to receive changes over a stream, usually within a quarter of a second, and to poll only while the stream is
   * down. Keeps a Node.js process alive until `shutdown()`. Default false.
   */
  readonly streaming?: boolean | undefined;
  /**
   * True to report the number of evaluations of each flag to the server, without contexts: first after 60 seconds,
   * then every 30 to 60 seconds, and at `flush()` and `shutdown()`. A report that fails has no effect on the client.
   * With the key of a public environment (`pnp_…`), a random tenth is reported. Default true, but false with a custom
   * `transport`.
   */
  readonly reportUsage?: boolean | undefined;
  /**
   * Called with every evaluation of `isEnabled`, `getValue`, `evaluate`, `read` and `evaluateRemote`, and of a reader's
   * methods of the same names, including fallbacks. Not called by `evaluateAll` and `readAll`, by evaluations that it
   * makes itself, or if a read throws or returns undefined. Nothing is stored or sent. An error that it throws is
   * logged.
   */
  readonly onEvaluate?: ((event: EvaluateEvent) => void) | undefined;
}

/** The timeout and the retries of `initialize()`. */
export interface InitializeOptions {
  /**
   * The time after which `initialize()` rejects, in milliseconds, unless `store` or `cache` has flags that are fresh
   * enough. By default it waits for all attempts: up to 19 seconds with the default options, if nothing responds.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * The behavior if the flags cannot be fetched. Use it to start an application before Pennon. By default
   * `initialize()` rejects after all attempts have failed, and the client stops trying until you call it again.
   *
   * - `"background"`: rejects as by default, but the client keeps trying, and emits `ready` with the first flags.
   * - `"forever"`: waits until the client has flags. Rejects early only after `timeoutMs`, if the server rejects the
   *   key, or if the response is not a config document. The client keeps trying in these cases too.
   *
   * Attempts are up to 30 seconds apart. After a rejected key, the client tries again within a minute, and then less
   * and less often, up to every ten minutes.
   */
  readonly retry?: "background" | "forever" | undefined;
}

/** An evaluation, as `onEvaluate` receives it. */
export interface EvaluateEvent extends Evaluation {
  readonly key: string;
  /** The context of the evaluation; undefined if there was none. */
  readonly context: EvaluationContext | undefined;
}

/** Validated options, with defaults filled in. @internal */
export type Settings = Readonly<ReturnType<typeof parseOptions>>;

/**
 * Validates the options, which may have any type in JavaScript. Null stands for an absent option, except for `context`
 * with `mode: "remote"`. Throws `INVALID_OPTIONS` with a message that names the valid values. @internal
 */
export function parseOptions(options: FeatureFlagsClientOptions) {
  if (typeof options !== "object" || options === null) {
    throw invalid("The options must be an object with at least the member sdkKey");
  }
  const transport = plugIn(options, "transport", ["send"]) ?? fetchTransport;
  return {
    sdkKey: sdkKey(options.sdkKey),
    clientName: clientName(options),
    baseUrl: baseUrl(options.baseUrl ?? "http://127.0.0.1:3000"),
    pollIntervalMs: number(options, "pollIntervalMs", 0),
    ttlMs: ttlMs(options),
    retries: retries(options.retries ?? DEFAULTS.retries),
    retryDelayMs: number(options, "retryDelayMs", 0),
    timeoutMs: number(options, "timeoutMs", 1),
    cache: plugIn(options, "cache", ["get", "set", "delete", "clear"]),
    store: store(options),
    transport,
    /** True in a page with a public key, which may stand in addresses. */
    isPublicPage:
      transport === fetchTransport && isPublicKey(options) && typeof document !== "undefined",
    logger: safeLogger(plugIn(options, "logger", ["debug", "info", "warn", "error"]) ?? noopLogger),
    eventEmitter: plugIn(options, "eventEmitter", ["on", "emit", "removeAllListeners"]),
    ...modeAndBootstrap(options),
    fallbacks: fallbacks(options.fallbacks ?? {}),
    staleIfError: flag(options, "staleIfError"),
    streaming: flag(options, "streaming"),
    reportUsage: flag(options, "reportUsage", transport === fetchTransport) && isSampled(options),
    onEvaluate: onEvaluate(options.onEvaluate ?? undefined),
  };
}

/** Validates the options of `initialize()`. Throws `INVALID_OPTIONS`. @internal */
export function parseInitializeOptions(options: InitializeOptions): InitializeOptions {
  const given: Partial<Record<keyof InitializeOptions, unknown>> = options ?? {};
  const timeoutMs = given.timeoutMs ?? undefined;
  const retry = given.retry ?? undefined;
  const isTime = typeof timeoutMs === "number" && Number.isFinite(timeoutMs) && timeoutMs >= 0;
  if (timeoutMs !== undefined && !isTime) {
    throw invalid("timeoutMs of initialize() must be a number of milliseconds, at least 0");
  }
  if (retry !== undefined && retry !== "background" && retry !== "forever") {
    throw invalid('retry of initialize() must be "background" or "forever"');
  }
  return { timeoutMs, retry };
}

/** Logs a warning for options that are valid but probably unintended. @internal */
export function warnOfOptions({
  ttlMs,
  pollIntervalMs,
  streaming,
  transport,
  logger,
}: Settings): void {
  if (ttlMs < 1_000) {
    logger.warn(
      `cacheTtlMs is ${ttlMs} ms, so flags expire in less than a second. ` +
        "Set a larger value: cacheTtlSeconds is in milliseconds, too.",
    );
  } else if (ttlMs < pollIntervalMs) {
    logger.warn(
      `cacheTtlMs (${ttlMs} ms) is shorter than pollIntervalMs (${pollIntervalMs} ms), ` +
        "so flags are fetched between polls. Set cacheTtlMs to at least pollIntervalMs.",
    );
  }
  if (pollIntervalMs > 0 && pollIntervalMs < 1_000) {
    logger.warn(
      `pollIntervalMs is ${pollIntervalMs} ms, so each client sends more than one request per second. ` +
        "Use streaming instead.",
    );
  }
  if (streaming && transport.open === undefined) {
    logger.warn("The transport lacks the method open, which streaming needs, so the client polls.");
  }
}

function sdkKey(key: unknown): string {
  if (typeof key !== "string" || !/^[\x21-\x7e]+$/.test(key)) {
    throw invalid(
      "sdkKey must be the SDK key of an environment, such as pnk_…. Check that its environment variable is set.",
    );
  }
  return key;
}

/** Returns the package name that npm/client-name.js has added to the options, or else the name of this package. */
function clientName(options: object): string {
  const name = (options as Record<symbol, unknown>)[Symbol.for("pennon.client")];
  return typeof name === "string" ? name : `@pennon/core/${VERSION}`;
}

function baseUrl(text: unknown): string {
  try {
    // Older browsers lack `URL.canParse`.
    const url = typeof text === "string" ? new URL(text) : undefined;
    if (url !== undefined && /^https?:$/.test(url.protocol)) {
      return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
    }
  } catch {
    // Not a URL.
  }
  throw invalid("baseUrl must be an absolute http or https URL, such as https://flags.example.com");
}

function retries(count: unknown): number {
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

/** Reads `cacheTtlMs`, or its deprecated name `cacheTtlSeconds`. */
function ttlMs(options: FeatureFlagsClientOptions): number {
  const deprecated: unknown = options.cacheTtlSeconds;
  if (deprecated == null) {
    return number(options, "cacheTtlMs", 1);
  }
  if (options.cacheTtlMs != null) {
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
  byDefault = false,
): boolean {
  const value: unknown = options[name] ?? byDefault;
  if (typeof value !== "boolean") {
    throw invalid(`${name} must be true or false`);
  }
  return value;
}

/**
 * Returns false for nine in ten pages with a public key, at random. Pennon scales the counts of the others. A server
 * draws when it reports instead: React forbids randomness in a prerender, which creates clients.
 */
function isSampled(options: FeatureFlagsClientOptions): boolean {
  return !isPublicKey(options) || typeof document === "undefined" || Math.random() < 0.1;
}

/** Returns true if the key is that of a public environment. @internal */
export function isPublicKey({ sdkKey }: Pick<FeatureFlagsClientOptions, "sdkKey">): boolean {
  return sdkKey?.startsWith("pnp_") ?? false;
}

function fallbacks(given: unknown): ReadonlyMap<string, Evaluation> {
  const entries = typeof given === "object" ? Object.entries(given as object) : undefined;
  if (!entries?.every(([, enabled]) => typeof enabled === "boolean")) {
    throw invalid("fallbacks must be an object with true or false for each flag key");
  }
  return new Map(entries.map(([key, enabled]) => [key, evaluationOf(enabled, "fallback")]));
}

interface ModeSettings extends Bootstrap {
  readonly mode: "local" | "remote";
  readonly context?: EvaluationContext<object> | null | undefined;
  /** In a page that has no flags to start with, the context to request them for. */
  readonly bootstrapContext?: EvaluationContext | undefined;
}

/** Reads `mode` and the options that depend on it. */
function modeAndBootstrap(options: FeatureFlagsClientOptions): ModeSettings {
  const { context } = options;
  const mode = options.mode ?? "local";
  const given = parseBootstrap(options.bootstrap);
  if (mode === "remote") {
    const { snapshot } = given;
    return { mode, context: remoteContext(options, snapshot), ...(snapshot && { snapshot }) };
  }
  if (mode !== "local") {
    throw invalid('mode must be "local" or "remote"');
  }
  if (context != null) {
    throw invalid('context requires mode: "remote". In the default mode, pass it to evaluate()');
  }
  const hasFlags = given.snapshot !== undefined || given.configuration !== undefined;
  const wanted = bootstrapContext(options);
  const isWanted = wanted !== undefined && !hasFlags && typeof document !== "undefined";
  return { mode, ...given, ...(isWanted && { bootstrapContext: wanted }) };
}

/** Copies the option `bootstrapContext`. */
function bootstrapContext({
  bootstrapContext: given,
}: FeatureFlagsClientOptions): EvaluationContext | undefined {
  if (given == null) {
    return undefined;
  }
  if (typeof given !== "object") {
    throw invalid("bootstrapContext must be an object");
  }
  return keyedContext(given).context;
}

/** Returns the context of a client with `mode: "remote"`, and validates the options that differ there. */
function remoteContext(
  { context, store, bootstrap, bootstrapContext }: FeatureFlagsClientOptions,
  snapshot: Snapshot | undefined,
): EvaluationContext<object> | null | undefined {
  if (typeof (context ?? {}) !== "object") {
    throw invalid("context must be an object");
  }
  if (bootstrapContext != null) {
    throw invalid('bootstrapContext is for the default mode. In mode: "remote", use context');
  }
  if (store != null) {
    throw invalid('store keeps rules, which mode: "remote" never sees. Use cache instead');
  }
  if (bootstrap != null && snapshot === undefined) {
    throw invalid('bootstrap must be a snapshot in mode: "remote", not a config document');
  }
  return context === undefined ? snapshot?.subject?.context : context;
}

/** A validated bootstrap. @internal */
interface Bootstrap {
  readonly snapshot?: Snapshot;
  /** The text of the config document to start with. */
  readonly configuration?: string | undefined;
}

/** Validates the option `bootstrap`. Throws `INVALID_OPTIONS`. @internal */
export function parseBootstrap(given: unknown): Bootstrap {
  if (given == null) {
    return {};
  }
  if (typeof given === "string") {
    return { configuration: configurationText(given) };
  }
  const { version, flags, subject, config } = given as Partial<Snapshot>;
  if (version === undefined && Array.isArray(flags)) {
    return { configuration: convert(given, JSON.stringify) };
  }
  if (!areFlags(flags) || !(subject === undefined || areFlags(subject?.flags))) {
    throw invalid(
      "bootstrap must be the result of client.snapshot(), or the body of GET /sdk/v1/config as an object or as text",
    );
  }
  if (version !== 1) {
    throw invalid(
      "bootstrap is a snapshot of another version of @pennon/core. Use the same version on both sides.",
    );
  }
  return {
    snapshot: given as Snapshot,
    // A backend in another language may write an absent configuration as null.
    configuration: config ? convert(config, JSON.stringify) : undefined,
  };
}

/** Validates the text of a config document. */
function configurationText(text: string): string {
  const parsed: Partial<Snapshot> | null = convert(text, JSON.parse);
  if (parsed?.version !== undefined) {
    throw invalid("bootstrap is a snapshot as text. Parse it with JSON.parse() first.");
  }
  if (!Array.isArray(parsed?.flags)) {
    throw invalid("bootstrap is JSON text, but has no flags. Pass the body of GET /sdk/v1/config.");
  }
  return text;
}

/** Converts a bootstrap from or to JSON. */
function convert<Given, Result>(given: Given, by: (given: Given) => Result): Result {
  try {
    return by(given);
  } catch (cause) {
    throw invalid(`bootstrap is not JSON (${cause}). Pass the body of GET /sdk/v1/config.`);
  }
}

function areFlags(flags: readonly Partial<SubjectFlag>[] | undefined): boolean {
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
  if (plugged == null) {
    return undefined;
  }
  const missing = methods.find(
    (method) =>
      typeof (plugged as unknown as Partial<Record<string, unknown>>)[method] !== "function",
  );
  if (missing !== undefined) {
    throw invalid(`${name} must have the method ${missing}`);
  }
  return plugged;
}

function invalid(message: string): FeatureFlagsError {
  return new FeatureFlagsError("INVALID_OPTIONS", message);
}
