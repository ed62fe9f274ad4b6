"use client";

import { FeatureFlagsClient, type Snapshot } from "@pennon/core";
import { type ReactElement, type ReactNode, useMemo } from "react";
import { FeatureFlagsProvider } from "./index.js";

export interface MockFeatureFlagsProviderProps {
  /** The flags, and whether each of them is on. */
  readonly flags?: Readonly<Record<string, boolean>> | undefined;
  readonly children?: ReactNode;
}

/** Provides its children with the flags of a test, at once and without a request. */
export function MockFeatureFlagsProvider({
  flags = {},
  children,
}: MockFeatureFlagsProviderProps): ReactElement {
  const content = JSON.stringify(Object.entries(flags));
  const client = useMemo(
    () => FeatureFlagsClient.fromSnapshot(snapshotOf(JSON.parse(content))),
    [content],
  );
  return <FeatureFlagsProvider client={client}>{children}</FeatureFlagsProvider>;
}

function snapshotOf(flags: readonly (readonly [string, boolean])[]): Snapshot {
  return {
    version: 1,
    flags: flags.map(([key, enabled]) => ({
      key,
      enabled,
      reason: enabled ? "flag_enabled" : "flag_disabled",
      targeted: false,
    })),
  };
}
