import type { Cache } from "../cache.js";
import { DEFAULTS } from "../engine/protocol.js";
import { invalidOptions } from "../errors.js";
import type { Evaluation, EvaluationContext } from "../evaluation.js";
import type { EventEmitter } from "../events.js";
import { type Logger, noopLogger, safeLogger } from "../logger.js";
import type { EvaluateEvent, FeatureFlagsClientOptions, InitializeOptions } from "../options.js";
import type { Snapshot } from "../snapshot.js";
import type { Store } from "../store.js";
import { fetchTransport, type Transport } from "../transport.js";
import { VERSION } from "../version.js";
import { evaluationOf } from "./flags.js";
import { keyedContext } from "./keyed-context.js";
import { type Bootstrap, parseBootstrap } from "./parse-bootstrap.js";

/** Validated options, with defaults filled in. */
export interface Settings extends ModeSettings {
  readonly sdkKey: string;
  /** The package that creates the client, and its version. */
  readonly clientName: string;
  readonly baseUrl: string;
  readonly pollIntervalMs: number;
  readonly ttlMs: number;
  readonly retries: number;
  readonly retryDelayMs: number;
  readonly timeoutMs: number;
  readonly cache: Cache | undefined;
  readonly store: Store | undefined;
  readonly transport: Transport;
  /** True in a page with a public key, which may stand in addresses. */
  readonly isPublicPage: boolean;
  readonly logger: Logger;
  readonly eventEmitter: EventEmitter | undefined;
  readonly fallbacks: ReadonlyMap<string, Evaluation>;
  readonly staleIfError: boolean;
  readonly streaming: boolean;
  readonly reportUsage: boolean;
  readonly onEvaluate: ((event: EvaluateEvent) => void) | undefined;
}

/** The settings that depend on `mode`. */
interface ModeSettings extends Bootstrap {
  readonly mode: "local" | "remote";
  readonly context?: EvaluationContext<object> | null | undefined;
  /** In a page that has no flags to start with, the context to request them for. */
  readonly bootstrapContext?: EvaluationContext | undefined;
}

/**
 * Validates the options, which may have any type in JavaScript. Null stands for an absent option, except for `context`
 * with `mode: "remote"`. Throws `INVALID_OPTIONS` with a message that names the valid values.
 */
export function parseOptions(options: FeatureFlagsClientOptions): Settings {
  if (typeof options !== "object" || options === null) {
    throw invalidOptions("The options must be an object with at least the member sdkKey");
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

/** Validates the options of `initialize()`. Throws `INVALID_OPTIONS`. */
export function parseInitializeOptions(options: InitializeOptions): InitializeOptions {
  const given: Partial<Record<keyof InitializeOptions, unknown>> = options ?? {};
  const timeoutMs =
    given.timeoutMs == null
      ? undefined
      : milliseconds("timeoutMs of initialize()", given.timeoutMs, 0);
  const retry = given.retry ?? undefined;
  if (retry !== undefined && retry !== "background" && retry !== "forever") {
    throw invalidOptions('retry of initialize() must be "background" or "forever"');
  }
  return { timeoutMs, retry };
}

/** Logs a warning for options that are valid but probably unintended. */
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
    throw invalidOptions(
      "sdkKey must be the SDK key of an environment, such as pnk_…. Check that its environment variable is set.",
    );
  }
  return key;
}

/**
 * Returns the package name that npm/shared/client-name.js has added to the options, or else the name of this package.
 */
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
  throw invalidOptions(
    "baseUrl must be an absolute http or https URL, such as https://flags.example.com",
  );
}

function retries(count: unknown): number {
  if (typeof count !== "number" || !Number.isInteger(count) || count < 1 || count > 10) {
    throw invalidOptions("retries must be an integer from 1 to 10");
  }
  return count;
}

function onEvaluate(given: unknown): ((event: EvaluateEvent) => void) | undefined {
  if (given !== undefined && typeof given !== "function") {
    throw invalidOptions("onEvaluate must be a function");
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
    throw invalidOptions("cacheTtlMs and cacheTtlSeconds are the same option: set cacheTtlMs only");
  }
  return milliseconds("cacheTtlSeconds", deprecated, 1);
}

type NumberOption = Exclude<keyof typeof DEFAULTS, "retries">;

function number(options: FeatureFlagsClientOptions, name: NumberOption, least: number): number {
  return milliseconds(name, options[name] ?? DEFAULTS[name], least);
}

function milliseconds(name: string, value: unknown, least: number): number {
  if (typeof value !== "number" || !Number.isFinite(value) || value < least) {
    throw invalidOptions(`${name} must be a number of milliseconds, at least ${least}`);
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
    throw invalidOptions(`${name} must be true or false`);
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

/** Returns true if the key is that of a public environment. */
export function isPublicKey({ sdkKey }: Pick<FeatureFlagsClientOptions, "sdkKey">): boolean {
  return sdkKey?.startsWith("pnp_") ?? false;
}

function fallbacks(given: unknown): ReadonlyMap<string, Evaluation> {
  const entries = typeof given === "object" ? Object.entries(given as object) : undefined;
  if (!entries?.every(([, enabled]) => typeof enabled === "boolean")) {
    throw invalidOptions("fallbacks must be an object with true or false for each flag key");
  }
  return new Map(entries.map(([key, enabled]) => [key, evaluationOf(enabled, "fallback")]));
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
    throw invalidOptions('mode must be "local" or "remote"');
  }
  if (context != null) {
    throw invalidOptions(
      'context requires mode: "remote". In the default mode, pass it to evaluate()',
    );
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
    throw invalidOptions("bootstrapContext must be an object");
  }
  return keyedContext(given).context;
}

/** Returns the context of a client with `mode: "remote"`, and validates the options that differ there. */
function remoteContext(
  { context, store, bootstrap, bootstrapContext }: FeatureFlagsClientOptions,
  snapshot: Snapshot | undefined,
): EvaluationContext<object> | null | undefined {
  if (typeof (context ?? {}) !== "object") {
    throw invalidOptions("context must be an object");
  }
  if (bootstrapContext != null) {
    throw invalidOptions(
      'bootstrapContext is for the default mode. In mode: "remote", use context',
    );
  }
  if (store != null) {
    throw invalidOptions('store keeps rules, which mode: "remote" never sees. Use cache instead');
  }
  if (bootstrap != null && snapshot === undefined) {
    throw invalidOptions('bootstrap must be a snapshot in mode: "remote", not a config document');
  }
  return context === undefined ? snapshot?.subject?.context : context;
}

function store(options: FeatureFlagsClientOptions): Store | undefined {
  const store = plugIn(options, "store", ["load", "save"]);
  const age: unknown = store?.maxAgeSeconds ?? 0;
  if (typeof age !== "number" || !Number.isFinite(age) || age < 0) {
    throw invalidOptions("maxAgeSeconds of store must be a number of seconds, at least 0");
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
    throw invalidOptions(`${name} must have the method ${missing}`);
  }
  return plugged;
}
