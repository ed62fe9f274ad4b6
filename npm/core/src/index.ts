export type { Cache, CachedFlag, CacheEntry, CacheIndex } from "./cache.js";
export { FeatureFlagsClient } from "./client.js";
export type { AttributeValue, EvaluationContext } from "./context.js";
export { type ErrorCode, FeatureFlagsError } from "./errors.js";
export type {
  ConditionTrace,
  Evaluation,
  Explanation,
  Reason,
  RolloutTrace,
  RuleTrace,
} from "./evaluation.js";
export type {
  EventEmitter,
  LifecycleDetails,
  LifecycleEvent,
  LifecycleEventType,
  Listener,
} from "./events.js";
export type { FlagKey, RegisteredFlags } from "./keys.js";
export { consoleLogger, type Logger, noopLogger } from "./logger.js";
export type { EvaluateEvent, FeatureFlagsClientOptions, InitializeOptions } from "./options.js";
export type { FlagReader } from "./reader.js";
export type { Configuration, Snapshot, SnapshotFlag, SubjectFlag } from "./snapshot.js";
export { localStorageStore, type Store, type StoreOptions } from "./store.js";
export {
  fetchTransport,
  type Transport,
  type TransportRequest,
  type TransportResponse,
  type TransportStream,
} from "./transport.js";
export { VERSION } from "./version.js";
