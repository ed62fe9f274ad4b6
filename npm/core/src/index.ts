export type { Cache, CachedFlag, CacheEntry, CacheIndex } from "./cache.js";
export { FeatureFlagsClient } from "./client.js";
export type { EvaluationContext } from "./context.js";
export { type ErrorCode, FeatureFlagsError } from "./errors.js";
export type { Evaluation, Reason } from "./evaluation.js";
export type { EventEmitter, LifecycleEvent, LifecycleEventType, Listener } from "./events.js";
export { consoleLogger, type Logger, noopLogger } from "./logger.js";
export type { FeatureFlagsClientOptions } from "./options.js";
export {
  fetchTransport,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from "./transport.js";
