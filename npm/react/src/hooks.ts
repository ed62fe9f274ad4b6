import type { Evaluation, FeatureFlagsClient, FlagKey, FlagReader, Reason } from "@pennon/core";
import { useMemo, useState, useSyncExternalStore } from "react";
import { useStore } from "./internal/store.js";
import { type FlagsStatus, LOADING } from "./status.js";

/** What a flag is, why, and whether that may be for the moment only. */
export interface FlagDetails {
  readonly value: boolean;
  /** The step that decided; undefined where there is no answer, and `value` is the fallback. */
  readonly reason: Reason | undefined;
  /** Whether the client has yet to fetch the flags, and had none to begin with. */
  readonly loading: boolean;
}

/** Whether the flag is on for the provider's context; `fallback` while there is no answer. Never throws for a key. */
export function useFlag(key: FlagKey, fallback = false): boolean {
  return useRead((flags) => flags.isEnabled(key, fallback));
}

/** The same, with the reason. */
export function useFlagDetails(key: FlagKey, fallback = false): FlagDetails {
  const evaluation = useRead((flags) => flags.read(key));
  const loading = useIsLoading(evaluation);
  return useMemo(
    () => ({ value: evaluation?.enabled ?? fallback, reason: evaluation?.reason, loading }),
    [evaluation, fallback, loading],
  );
}

/**
 * The same as `useFlag`, but a component that is about to be shown first waits for the flags, by suspending. A failure to
 * fetch them ends that too.
 */
export function useSuspenseFlag(key: FlagKey, fallback = false): boolean {
  const { monitor } = useStore();
  const evaluation = useRead((flags) => flags.read(key));
  // On a server nobody fetches, so waiting would be in vain.
  const loading = useIsLoading(evaluation, false);
  // What has been shown once, by a server for one, does not make way again for a spinner.
  const [isNew] = useState(loading);
  if (isNew && loading) {
    throw monitor.settled();
  }
  return evaluation?.enabled ?? fallback;
}

/** Whether these flags are on, by key; without keys, all flags that there are. The same answers are the same object. */
export function useFlags(): Readonly<Record<FlagKey, boolean>>;
export function useFlags<const Key extends FlagKey>(
  keys: readonly Key[],
): Readonly<Record<Key, boolean>>;
export function useFlags(keys?: readonly FlagKey[]): Readonly<Record<string, boolean>> {
  const read = useRead((flags) =>
    // As text, so that answers are compared by their content.
    keys === undefined
      ? flags.readAll()
      : JSON.stringify(keys.map((key) => [key, flags.isEnabled(key)])),
  );
  return useMemo(() => {
    if (typeof read === "string") {
      return Object.fromEntries(JSON.parse(read));
    }
    return Object.fromEntries(Object.entries(read).map(([key, { enabled }]) => [key, enabled]));
  }, [read]);
}

/** How far the client has come. */
export function useFlagsStatus(): FlagsStatus {
  const { monitor, servedStatus } = useStore();
  return useSyncExternalStore(monitor.subscribe, monitor.status, servedStatus);
}

/** The client, for whatever is no rendering: `refresh()`, events. What it reads does not follow the flags. */
export function useFeatureFlagsClient(): FeatureFlagsClient {
  return useStore().client;
}

/** What `read` gives, which must be the same value or object for as long as the flags are the same. */
function useRead<T>(read: (flags: FlagReader) => T): T {
  const { client, live, served } = useStore();
  return useSyncExternalStore(
    client.subscribe,
    () => read(live),
    () => read(served),
  );
}

/** Whether flags are being fetched that this answer does not know of. */
function useIsLoading(evaluation: Evaluation | undefined, onServer?: false): boolean {
  const { monitor, servedStatus } = useStore();
  const isAnswer = evaluation !== undefined && evaluation.reason !== "fallback";
  const loading = (status: () => FlagsStatus) => () => !isAnswer && status() === LOADING;
  return useSyncExternalStore(
    monitor.subscribe,
    loading(monitor.status),
    onServer === undefined ? loading(servedStatus) : () => onServer,
  );
}
