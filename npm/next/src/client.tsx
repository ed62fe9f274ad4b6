"use client";

import type { FeatureFlagsClientOptions, Snapshot } from "@pennon/core";
import { FeatureFlagsProvider as Provider } from "@pennon/react";
import { type ReactElement, type ReactNode, useMemo } from "react";
import { requireSameVersion } from "../../same-version.js";
import { ServedClient } from "./internal/served.js";

export {
  Feature,
  type FeatureProps,
  type FlagDetails,
  type FlagsStatus,
  useFeatureFlagsClient,
  useFlag,
  useFlagDetails,
  useFlags,
  useFlagsStatus,
  useSuspenseFlag,
} from "@pennon/react";

export interface FeatureFlagsProviderProps {
  /** What `snapshot()` of the server's flags gave: with whom they are for, and without rules. */
  readonly snapshot: Snapshot;
  /**
   * With a key that everybody may read: the page then follows the flags by itself. Read once. Without options, it shows what
   * the server has said last, and needs no key.
   */
  readonly options?: FeatureFlagsClientOptions | undefined;
  readonly children?: ReactNode;
}

/** Gives the hooks below it the flags that the server has rendered with, from the first render on. */
export function FeatureFlagsProvider({
  options,
  ...props
}: FeatureFlagsProviderProps): ReactElement {
  requireSameVersion();
  const { snapshot, children } = props;
  return options === undefined ? (
    <AsServed {...props} />
  ) : (
    <Provider options={options} bootstrap={snapshot} context={snapshot.subject?.context}>
      {children}
    </Provider>
  );
}

function AsServed({ snapshot, children }: FeatureFlagsProviderProps): ReactElement {
  // Each rendering by the server brings a new object, mostly with the same content.
  const content = JSON.stringify(snapshot);
  const client = useMemo(() => new ServedClient(JSON.parse(content)), [content]);
  return (
    <Provider client={client} bootstrap={snapshot} context={snapshot.subject?.context}>
      {children}
    </Provider>
  );
}
