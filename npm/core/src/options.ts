import type { Cache } from "./cache.js";
import type { Evaluation, EvaluationContext } from "./evaluation.js";
import type { EventEmitter } from "./events.js";
import type { Logger } from "./logger.js";
import type { Configuration, Snapshot } from "./snapshot.js";
import type { Store } from "./store.js";
import type { Transport } from "./transport.js";

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
