import type { FeatureFlagsClient, FlagReader } from "@pennon/core";
import { createContext, useContext } from "react";
import type { FlagsStatus } from "../status.js";
import type { Monitor } from "./monitor.js";

/** What a provider gives to the hooks below it. */
export interface Store {
  readonly client: FeatureFlagsClient;
  readonly monitor: Monitor;
  /** The flags as they are. */
  readonly live: FlagReader;
  /** The flags as the server has them, or had them when it made the page that is being hydrated. */
  readonly served: FlagReader;
  readonly servedStatus: () => FlagsStatus;
}

export const StoreContext = createContext<Store | undefined>(undefined);

export function useStore(): Store {
  const store = useContext(StoreContext);
  if (store === undefined) {
    throw new Error("This component reads flags, so it must be inside a <FeatureFlagsProvider>");
  }
  return store;
}
