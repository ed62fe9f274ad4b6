import {
  contextKey,
  type EvaluationContext,
  FeatureFlagsClient,
  type FeatureFlagsClientOptions,
  type FlagReader,
  type Snapshot,
} from "@pennon/core";
import {
  type ReactElement,
  type ReactNode,
  type RefObject,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { withClientName } from "../../shared/client-name.js";
import { requireSameVersion } from "../../shared/same-version.js";
import { ClientStatus } from "./internal/client-status.js";
import { OwnedClient } from "./internal/owned-client.js";
import { type Store, StoreContext } from "./internal/store.js";
import { LOADING } from "./status.js";

type Bootstrap = FeatureFlagsClientOptions["bootstrap"];

interface SharedProps<Custom extends object> {
  /**
   * The context for which flags are evaluated. It is compared by content, so you can write it inline. Default: the
   * context of `bootstrap`, if it has one, and otherwise no context.
   *
   * With a client in `mode: "remote"`, a new context is passed to `setContext`, and hooks return the values for the
   * previous context until the new ones arrive. Default: the client's own context.
   */
  readonly context?: EvaluationContext<Custom> | null | undefined;
  /** The flags with which the server rendered, so that the first render in the browser is the same. Read once. */
  readonly bootstrap?: Bootstrap;
  readonly children?: ReactNode;
}

/**
 * The props of a provider: either `client`, which you initialize and shut down yourself, or `options` for a client that
 * the provider owns.
 */
export type FeatureFlagsProviderProps<Custom extends object = object> = SharedProps<Custom> &
  (
    | { readonly client: FeatureFlagsClient; readonly options?: undefined }
    | {
        /**
         * The options of the provider's own client. Read once, like the initial value of a state: to create another
         * client, change the `key`.
         */
        readonly options: FeatureFlagsClientOptions;
        readonly client?: undefined;
      }
  );

/** Provides the hooks of its children with flags. */
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
  const status = useMemo(() => new ClientStatus(client), [client]);
  const [served] = useState(() =>
    props.bootstrap == null ? undefined : FeatureFlagsClient.fromSnapshot(props.bootstrap),
  );
  return <Provide client={client} status={status} served={served} {...props} />;
}

function WithOptions<Custom extends object>({
  options,
  bootstrap: given,
  ...props
}: SharedProps<Custom> & { readonly options: FeatureFlagsClientOptions }): ReactElement {
  const bootstrap = given ?? options?.bootstrap ?? undefined;
  const isRemote = options?.mode === "remote" && props.context !== undefined;
  const ownContext = isRemote ? { context: props.context } : {};
  const [owned, setOwned] = useState(
    () => new OwnedClient(withClientName({ ...options, bootstrap, ...ownContext })),
  );
  const [served] = useState(() => FeatureFlagsClient.fromSnapshot(bootstrap, options.fallbacks));
  const { client, status } = owned;
  const live = useRef<FlagReader>(undefined);
  useEffect(
    () => owned.mount(() => live.current ?? client.withContext(), setOwned),
    [owned, client],
  );
  return <Provide {...props} {...{ client, status, served, live, bootstrap }} />;
}

function Provide<Custom extends object>({
  client,
  status,
  served,
  live,
  context,
  bootstrap,
  children,
}: SharedProps<Custom> & {
  readonly client: FeatureFlagsClient;
  readonly status: ClientStatus;
  /** A client with the flags of the server; undefined if they do not differ from the current ones. */
  readonly served: FeatureFlagsClient | undefined;
  /** Receives the reader of the hooks. */
  readonly live?: RefObject<FlagReader | undefined>;
}): ReactElement {
  const [bootstrapContext] = useState(() => contextOf(bootstrap));
  const usedContext = context === undefined ? bootstrapContext : context;
  const contextId = contextKey(usedContext);
  /** False while a client in remote mode keeps the context that it was created with. */
  const hasGivenContext = useRef(false);
  // The reader of a client in remote mode follows `setContext`.
  const liveContext = client.mode === "remote" ? undefined : usedContext;
  // biome-ignore lint/correctness/useExhaustiveDependencies: contextId changes with the content of the context.
  const store = useMemo<Store>(() => {
    const reader = client.withContext(liveContext);
    const servedReader = served?.withContext(usedContext) ?? reader;
    return {
      client,
      status,
      live: reader,
      served: servedReader,
      // The client of `options` starts in the page, which counts its evaluations.
      counted: live === undefined ? reader : servedReader,
      servedStatus: served === undefined ? status.current : () => LOADING,
    };
  }, [client, status, served, contextId]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: contextId changes with the content of the context.
  useEffect(() => {
    hasGivenContext.current ||= context !== undefined;
    if (client.mode === "remote" && hasGivenContext.current) {
      // The client reports a failure in `refresh:error`, and tries again.
      client.setContext(usedContext).catch(() => {});
    }
  }, [client, contextId]);
  useEffect(() => {
    if (live !== undefined) {
      live.current = store.live;
    }
  }, [live, store]);
  useEffect(() => status.watch(), [status]);
  return <StoreContext.Provider value={store}>{children}</StoreContext.Provider>;
}

function contextOf(bootstrap: Bootstrap): EvaluationContext | undefined {
  return typeof bootstrap === "object"
    ? (bootstrap as Partial<Snapshot> | null)?.subject?.context
    : undefined;
}
