"use client";

import { FeatureFlagsClient, type FeatureFlagsClientOptions, type Snapshot } from "@pennon/core";
import { FeatureFlagsProvider as Provider } from "@pennon/react";
import { type ReactElement, type ReactNode, useMemo } from "react";
import { named } from "../../client-name.js";
import { requireSameVersion } from "../../same-version.js";
import { Follow } from "./internal/follow.js";

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
  /** The result of `snapshot()` of the server's flags: their evaluations and the context, without rules. */
  readonly bootstrap: Snapshot;
  /**
   * Where a route handler answers with `streamFeatureFlags`: the server then renders the page anew whenever the flags
   * change, and the page needs no key.
   */
  readonly stream?: string | undefined;
  /**
   * With a key that everybody may read: the page then follows the flags by itself. Read once. Without options, it shows
   * what the server has said last.
   */
  readonly options?: FeatureFlagsClientOptions | undefined;
  readonly children?: ReactNode;
}

/** Gives the hooks below it the flags that the server has rendered with, from the first render on. */
export function FeatureFlagsProvider({
  bootstrap,
  stream,
  options,
  children,
}: FeatureFlagsProviderProps): ReactElement {
  requireSameVersion();
  // Each rendering by the server brings a new object, mostly with the same content.
  const content = JSON.stringify(bootstrap);
  const { context } = bootstrap.subject ?? {};
  const served = useMemo(() => FeatureFlagsClient.fromSnapshot(JSON.parse(content)), [content]);
  const shared = { bootstrap, context, children };
  return (
    <>
      {stream !== undefined && (
        <Follow stream={stream} shown={content} whom={JSON.stringify(context)} />
      )}
      {options === undefined ? (
        <Provider client={served} {...shared} />
      ) : (
        <Provider options={named(options)} {...shared} />
      )}
    </>
  );
}
