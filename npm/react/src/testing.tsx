"use client";

import { FeatureFlagsClient } from "@pennon/core";
import { type ReactElement, type ReactNode, useMemo } from "react";
import { FeatureFlagsProvider } from "./index.js";

export interface MockFeatureFlagsProviderProps {
  /** Which flags there are, and whether they are on. */
  readonly flags?: Readonly<Record<string, boolean>> | undefined;
  readonly children?: ReactNode;
}

/** Gives the flags that a test says, at once, without a service and without a request. */
export function MockFeatureFlagsProvider({
  flags = {},
  children,
}: MockFeatureFlagsProviderProps): ReactElement {
  const content = JSON.stringify(Object.entries(flags));
  const client = useMemo(() => new MockClient(JSON.parse(content)), [content]);
  return <FeatureFlagsProvider client={client}>{children}</FeatureFlagsProvider>;
}

/** Has been ready ever since. */
class MockClient extends FeatureFlagsClient {
  constructor(flags: readonly (readonly [string, boolean])[]) {
    super({
      sdkKey: "mock",
      bootstrap: {
        version: 1,
        flags: flags.map(([key, enabled]) => ({
          key,
          enabled,
          reason: enabled ? "flag_enabled" : "flag_disabled",
          targeted: false,
        })),
      },
    });
  }

  override initialize(): Promise<void> {
    return Promise.resolve();
  }

  override refresh(): Promise<void> {
    return Promise.resolve();
  }

  override isReady(): boolean {
    return true;
  }
}
