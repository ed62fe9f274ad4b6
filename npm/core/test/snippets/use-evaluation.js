import { useMemo, useSyncExternalStore } from "react";

export function useEvaluation(client, key, userId) {
  const flags = useMemo(() => client.withContext({ userId }), [client, userId]);
  return useSyncExternalStore(client.subscribe, () => flags.read(key));
}
