import type { Evaluation, FeatureFlagsClient, FlagKey, FlagReader, Reason } from "@pennon/core";
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { useStore } from "./internal/store.js";
import { type FlagsStatus, LOADING, READY } from "./status.js";

const isServer = typeof document === "undefined";

/** The value of a flag, its reason, and whether it may be temporary. */
export interface FlagDetails {
  readonly value: boolean;
  /** The step that determined the evaluation; undefined if the flag cannot be evaluated and `value` is the fallback. */
  readonly reason: Reason | undefined;
  /** True if the client has yet to fetch the flags, and started without any. */
  readonly loading: boolean;
}

/**
 * Returns true if the flag is on for the provider's context, and `fallback` (false by default) if it cannot be
 * evaluated. The component renders again when that changes. Never throws for a key.
 */
export function useFlag(key: FlagKey, fallback = false): boolean {
  return useRead([key], (read) => read(key)?.enabled ?? fallback);
}

/** Returns the value of the flag for the provider's context, with the reason. */
export function useFlagDetails(key: FlagKey, fallback = false): FlagDetails {
  const { servedStatus } = useStore();
  const evaluation = useRead([key], (read) => read(key));
  const loading = useIsLoading(evaluation, servedStatus);
  return useMemo(
    () => ({ value: evaluation?.enabled ?? fallback, reason: evaluation?.reason, loading }),
    [evaluation, fallback, loading],
  );
}

/** Does the same as `useFlag`, but suspends a new component until the client has flags or has failed to fetch them. */
export function useSuspenseFlag(key: FlagKey, fallback = false): boolean {
  const { status } = useStore();
  const evaluation = useRead([key], (read) => read(key));
  // On a server no client fetches, so waiting would never end.
  const loading = useIsLoading(evaluation, () => READY);
  // A component that has been shown, even by a server, must not be replaced by a spinner.
  const [isNew] = useState(loading);
  if (isNew && loading) {
    throw status.settled();
  }
  return evaluation?.enabled ?? fallback;
}

/**
 * Returns the values of these flags by key; without keys, of all flags, of which there are none until they arrive.
 * Equal values are the same object.
 */
export function useFlags(): Readonly<Partial<Record<FlagKey, boolean>>>;
export function useFlags<const Key extends FlagKey>(
  keys: readonly Key[],
): Readonly<Record<Key, boolean>>;
export function useFlags(keys?: readonly FlagKey[]): Readonly<Record<string, boolean>> {
  const values = useRead(keys ?? [], (read, flags) =>
    // As text, so that the values are compared by content.
    keys === undefined
      ? flags.readAll()
      : JSON.stringify(keys.map((key) => [key, read(key)?.enabled ?? false])),
  );
  return useMemo(() => {
    if (typeof values === "string") {
      return Object.fromEntries(JSON.parse(values));
    }
    const all = Object.entries(values).map(([key, { enabled }]) => [key, enabled]);
    // No flag such as `constructor` is inherited. The prototype is empty instead of null, because React rejects objects
    // without a prototype as arguments of Server Functions.
    return Object.assign(Object.create(Object.create(null)), Object.fromEntries(all));
  }, [values]);
}

/** Returns the status of the client. */
export function useFlagsStatus(): FlagsStatus {
  const { status, servedStatus } = useStore();
  return useSyncExternalStore(status.subscribe, status.current, servedStatus);
}

/**
 * Returns the client, for use outside of rendering, such as `refresh()` and events. A component does not render again
 * when reads of the client change.
 */
export function useFeatureFlagsClient(): FeatureFlagsClient {
  return useStore().client;
}

/**
 * Returns the result of `get`, which evaluates the flags with these keys by `read`, and must return the same value or
 * object for as long as the flags are the same.
 */
function useRead<T>(
  keys: readonly FlagKey[],
  get: (read: FlagReader["read"], flags: FlagReader) => T,
): T {
  const { client, live, served, counted } = useStore();
  useCount(keys);
  return useSyncExternalStore(
    client.subscribe,
    () => get((key) => live.peek(key), live),
    () =>
      get((key) => {
        if (isServer) {
          // A render on a server is final, so it counts.
          counted.read(key);
        }
        return served.peek(key);
      }, served),
  );
}

/**
 * Counts each evaluation that a mounted component uses, once. Renders do not count: React repeats and discards them.
 */
function useCount(keys: readonly FlagKey[]): void {
  const { client, live } = useStore();
  // Kept while StrictMode or a hidden parent unmounts the component and mounts it again.
  const counted = useRef({ by: live, evaluations: new Map<string, Evaluation>() });
  const text = JSON.stringify(keys);
  useEffect(() => {
    if (counted.current.by !== live) {
      counted.current = { by: live, evaluations: new Map() };
    }
    const { evaluations } = counted.current;
    const count = () => {
      for (const key of JSON.parse(text)) {
        const evaluation = live.peek(key);
        if (evaluation !== undefined && evaluation !== evaluations.get(key)) {
          evaluations.set(key, evaluation);
          live.read(key);
        }
      }
    };
    count();
    return client.subscribe(count);
  }, [client, live, text]);
}

/**
 * Returns true if the evaluation is missing or a fallback, and the flags are still being fetched. `servedStatus`
 * returns the status for a render on a server, and for hydration.
 */
function useIsLoading(
  evaluation: Evaluation | undefined,
  servedStatus: () => FlagsStatus,
): boolean {
  const { status } = useStore();
  const isEvaluated = evaluation !== undefined && evaluation.reason !== "fallback";
  const loading = (current: () => FlagsStatus) => () => !isEvaluated && current() === LOADING;
  return useSyncExternalStore(status.subscribe, loading(status.current), loading(servedStatus));
}
