import type { Cache } from "./cache.js";
import { FeatureFlagsError } from "./errors.js";
import type { EventEmitter } from "./events.js";
import { type Logger, noopLogger } from "./logger.js";
import { fetchTransport, type Transport } from "./transport.js";

export interface FeatureFlagsClientOptions {
  /** The key of one environment. In a browser bundle everybody can read it. */
  readonly sdkKey: string;
  /** Where the service is. Default `http://127.0.0.1:3000`. */
  readonly baseUrl?: string | undefined;
  /** The pause between two polls, in milliseconds. 0 turns polling off. Default 30000. */
  readonly pollIntervalMs?: number | undefined;
  /**
   * How long a flag may be served without being confirmed, **IN MILLISECONDS, whatever the name says**: 30 means 30 ms,
   * one minute is 60000. A flag's own override in its environment goes first. Default 60000.
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
  /** How requests are sent. Default `fetchTransport`. */
  readonly transport?: Transport | undefined;
  /** Where the client writes what it does. Default `noopLogger`; there is a `consoleLogger` too. */
  readonly logger?: Logger | undefined;
  /** Where lifecycle events go. By default the client has an emitter of its own; see `client.on`. */
  readonly eventEmitter?: EventEmitter | undefined;
}

/** Options that have been checked, every default filled in. */
export interface Settings {
  readonly sdkKey: string;
  readonly configUrl: string;
  readonly pollIntervalMs: number;
  readonly ttlMs: number;
  readonly retries: number;
  readonly retryDelayMs: number;
  readonly timeoutMs: number;
  readonly cache: Cache | undefined;
  readonly transport: Transport;
  readonly logger: Logger;
  readonly eventEmitter: EventEmitter | undefined;
}

/** Checks options as JavaScript may pass them, and throws `INVALID_OPTIONS` with a sentence that tells what is expected. */
export function parseOptions(options: FeatureFlagsClientOptions): Settings {
  if (typeof options !== "object" || options === null) {
    throw invalid("the options must be an object with at least an sdkKey");
  }
  return {
    sdkKey: sdkKey(options.sdkKey),
    configUrl: `${baseUrl(options.baseUrl)}/sdk/v1/config`,
    pollIntervalMs: number(options, "pollIntervalMs", 30_000, 0),
    ttlMs: number(options, "cacheTtlSeconds", 60_000, 1),
    retries: retries(options.retries),
    retryDelayMs: number(options, "retryDelayMs", 1_000, 0),
    timeoutMs: number(options, "timeoutMs", 3_000, 1),
    cache: plugIn(options, "cache", ["get", "set", "delete", "clear"]),
    transport: plugIn(options, "transport", ["send"]) ?? fetchTransport,
    logger: plugIn(options, "logger", ["debug", "info", "warn", "error"]) ?? noopLogger,
    eventEmitter: plugIn(options, "eventEmitter", ["on", "emit", "removeAllListeners"]),
  };
}

function sdkKey(key: unknown): string {
  if (typeof key !== "string" || !/^[\x21-\x7e]+$/.test(key)) {
    throw invalid(
      "sdkKey must be the key that the service showed when the environment was created",
    );
  }
  return key;
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

function retries(count: unknown = 3): number {
  if (typeof count !== "number" || !Number.isInteger(count) || count < 1 || count > 10) {
    throw invalid("retries must be an integer from 1 to 10");
  }
  return count;
}

type NumberOption = "pollIntervalMs" | "cacheTtlSeconds" | "retryDelayMs" | "timeoutMs";

function number(
  options: FeatureFlagsClientOptions,
  name: NumberOption,
  fallback: number,
  least: number,
): number {
  const value: unknown = options[name] ?? fallback;
  if (typeof value !== "number" || !Number.isFinite(value) || value < least) {
    throw invalid(`${name} must be a number of milliseconds, at least ${least}`);
  }
  return Math.ceil(value);
}

function plugIn<N extends "cache" | "transport" | "logger" | "eventEmitter">(
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
