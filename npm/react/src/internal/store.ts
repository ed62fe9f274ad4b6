import type { FeatureFlagsClient, FlagReader } from "@pennon/core";
import { createContext, useContext } from "react";
import type { FlagsStatus } from "../status.js";
import type { ClientStatus } from "./client-status.js";

/** The value that a provider passes to the hooks of its children. */
export interface Store {
  readonly client: FeatureFlagsClient;
  readonly status: ClientStatus;
  /** The current flags. */
  readonly live: FlagReader;
  /** The flags on the server, or, during hydration, those with which the server rendered the page. */
  readonly served: FlagReader;
  /** The reader whose evaluations count in a render on a server. */
  readonly counted: FlagReader;
  readonly servedStatus: () => FlagsStatus;
}

export const StoreContext = createContext<Store | undefined>(undefined);

export function useStore(): Store {
  const store = useContext(StoreContext);
  if (store === undefined) {
    throw new Error(
      "A component reads flags outside of a provider. Render it inside a <FeatureFlagsProvider>.",
    );
  }
  return store;
}
