import {
  contextKey,
  type EvaluationContext,
  FeatureFlagsClient,
  type FeatureFlagsClientOptions,
  type Snapshot,
} from "@pennon/core";
import { type ReactElement, type ReactNode, useEffect, useMemo, useState } from "react";
import { named } from "../../client-name.js";
import { requireSameVersion } from "../../same-version.js";
import { Monitor } from "./internal/monitor.js";
import { Ownership } from "./internal/ownership.js";
import { type Store, StoreContext } from "./internal/store.js";
import { LOADING } from "./status.js";

type Bootstrap = FeatureFlagsClientOptions["bootstrap"];

interface SharedProps<Custom extends object> {
  /**
   * Whom flags are evaluated for. It is compared by its content, so it may be written in place. By default it is the subject
   * of `bootstrap`, if that has one, and otherwise nobody in particular.
   */
  readonly context?: EvaluationContext<Custom> | null | undefined;
  /** What the server rendered with, so that the first render here shows the same. Read once. */
  readonly bootstrap?: Bootstrap;
  readonly children?: ReactNode;
}

/** Either a client, which stays yours to initialise and to shut down, or options for one of the provider's own. */
export type FeatureFlagsProviderProps<Custom extends object = object> = SharedProps<Custom> &
  (
    | { readonly client: FeatureFlagsClient; readonly options?: undefined }
    | {
        /** Read once, as the initial value of a state is: another `key` makes another client. */
        readonly options: FeatureFlagsClientOptions;
        readonly client?: undefined;
      }
  );

/** Gives flags to the hooks below it. */
export function FeatureFlagsProvider<Custom extends object>({
  client,
  options,
  ...props
}: FeatureFlagsProviderProps<Custom>): ReactElement {
  requireSameVersion();
  return client === undefined ? (
    <WithOptions options={options} {...props} />
  ) : (
    <WithClient client={client} {...props} />
  );
}

function WithClient<Custom extends object>({
  client,
  ...props
}: SharedProps<Custom> & { readonly client: FeatureFlagsClient }): ReactElement {
  const monitor = useMemo(() => new Monitor(client), [client]);
  const [served] = useState(() =>
    props.bootstrap === undefined ? undefined : FeatureFlagsClient.fromSnapshot(props.bootstrap),
  );
  return <Provide client={client} monitor={monitor} served={served} {...props} />;
}

function WithOptions<Custom extends object>({
  options,
  bootstrap = options?.bootstrap,
  ...props
}: SharedProps<Custom> & { readonly options: FeatureFlagsClientOptions }): ReactElement {
  const own = () => new Ownership(named({ ...options, bootstrap }));
  const [ownership, setOwnership] = useState(own);
  const [served] = useState(() => FeatureFlagsClient.fromSnapshot(bootstrap, options.fallbacks));
  // biome-ignore lint/correctness/useExhaustiveDependencies: options are read once.
  useEffect(() => {
    if (ownership.ended) {
      // What was hidden for a while is shown again.
      setOwnership(own);
      return undefined;
    }
    return ownership.hold();
  }, [ownership]);
  const { client, monitor } = ownership;
  return <Provide {...props} {...{ client, monitor, served, bootstrap }} />;
}

function Provide<Custom extends object>({
  client,
  monitor,
  served,
  context,
  bootstrap,
  children,
}: SharedProps<Custom> & {
  readonly client: FeatureFlagsClient;
  readonly monitor: Monitor;
  /** What knows the flags as the server had them; without it, they are as they are. */
  readonly served: FeatureFlagsClient | undefined;
}): ReactElement {
  const [handedOver] = useState(() => subjectOf(bootstrap));
  const subject = context === undefined ? handedOver : context;
  const whom = contextKey(subject) ?? subject;
  // biome-ignore lint/correctness/useExhaustiveDependencies: whom says whether the subject is another one.
  const store = useMemo<Store>(
    () => ({
      client,
      monitor,
      live: client.withContext(subject),
      served: (served ?? client).withContext(subject),
      servedStatus: served === undefined ? monitor.status : () => LOADING,
    }),
    [client, monitor, served, whom],
  );
  useEffect(() => monitor.watch(), [monitor]);
  return <StoreContext.Provider value={store}>{children}</StoreContext.Provider>;
}

function subjectOf(bootstrap: Bootstrap): EvaluationContext | undefined {
  return typeof bootstrap === "object"
    ? (bootstrap as Partial<Snapshot>).subject?.context
    : undefined;
}
