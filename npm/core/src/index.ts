export type { Cache, CachedFlag, CacheEntry, CacheIndex } from "./cache.js";
export { FeatureFlagsClient } from "./client.js";
export { contextKey } from "./context-key.js";
export { type ErrorCode, FeatureFlagsError } from "./errors.js";
export type {
  AttributeValue,
  ConditionTrace,
  Evaluation,
  EvaluationContext,
  Explanation,
  FlagKey,
  Reason,
  RegisteredFlags,
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
