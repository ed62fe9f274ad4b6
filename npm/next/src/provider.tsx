"use client";

import { FeatureFlagsClient, type FeatureFlagsClientOptions, type Snapshot } from "@pennon/core";
import { FeatureFlagsProvider as Provider } from "@pennon/react";
import { type ReactElement, type ReactNode, useMemo } from "react";
import { withClientName } from "../../shared/client-name.js";
import { requireSameVersion } from "../../shared/same-version.js";
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
   * The path of a route handler that returns `streamFeatureFlags`. Whenever the flags change, the server then renders
   * the page again; the browser needs no SDK key.
   */
  readonly stream?: string | undefined;
  /**
   * The options of a client in the browser, whose SDK key everyone can read. The page then follows the flags without
   * the server. Read once. Without options, the page shows the evaluations of the server's last render. With
   * `mode: "remote"`, the client asks Pennon for the evaluations, and a new context of `bootstrap` is passed to
   * `setContext`.
   */
  readonly options?: FeatureFlagsClientOptions | undefined;
  readonly children?: ReactNode;
}

/** Provides the hooks of its children with the evaluations of the server's render, from the first render on. */
export function FeatureFlagsProvider({
  bootstrap,
  stream,
  options,
  children,
}: FeatureFlagsProviderProps): ReactElement {
  requireSameVersion();
  // Each render on the server produces a new object, usually with the same content.
  const content = JSON.stringify(bootstrap);
  const { context } = bootstrap.subject ?? {};
  const served = useMemo(() => FeatureFlagsClient.fromSnapshot(JSON.parse(content)), [content]);
  const shared = { bootstrap, context, children };
  return (
    <>
      {stream !== undefined && (
        <Follow stream={stream} shown={content} context={JSON.stringify(context)} />
      )}
      {options === undefined ? (
        <Provider client={served} {...shared} />
      ) : (
        <Provider options={withClientName(options)} {...shared} />
      )}
    </>
  );
}
