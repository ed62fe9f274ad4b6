import { type EvaluationContext, FeatureFlagsClient, VERSION } from "@pennon/core";
import type { FeatureFlagsServerOptions } from "./request.js";

/** The flags that exist, and whether each of them is on. */
export type MockFlags = Readonly<Record<string, boolean>>;

/** The same flags for every context, or a function that returns the flags of a context. */
export type MockFlagsSource = MockFlags | ((context: EvaluationContext) => MockFlags);

interface Mock {
  readonly source: MockFlagsSource;
  /** The clients by their flags and fallbacks. */
  readonly clients: Map<string, Promise<FeatureFlagsClient>>;
}

const current = Symbol.for(`@pennon/next/testing ${VERSION}`);

/** Test runners load a module several times: as ESM, as CommonJS, and again for a mock. */
const scope = globalThis as { [current]?: Mock };

export function mock(source: MockFlagsSource): void {
  scope[current] = { source, clients: new Map() };
}

/** Returns a client that has only the mocked flags of this context. */
export function mockClient(
  context: EvaluationContext<object> | null | undefined,
  { fallbacks = {} }: FeatureFlagsServerOptions,
): Promise<FeatureFlagsClient> {
  scope[current] ??= { source: {}, clients: new Map() };
  const { source, clients } = scope[current];
  const flags = typeof source === "function" ? source({ ...context } as EvaluationContext) : source;
  const name = JSON.stringify([flags, fallbacks]);
  const client = clients.get(name) ?? start(flags, fallbacks);
  clients.set(name, client);
  return client;
}

/** Starts a real client with responses in memory, so that readers and errors are those of production. */
async function start(flags: MockFlags, fallbacks: MockFlags): Promise<FeatureFlagsClient> {
  const configured = Object.entries(flags).map(([key, enabled]) => ({
    key,
    enabled,
    rules: [],
    rollout: null,
  }));
  const body = JSON.stringify({ flags: configured });
  const client = new FeatureFlagsClient({
    sdkKey: "mock",
    transport: { send: async () => ({ status: 200, headers: { get: () => null }, body }) },
    pollIntervalMs: 0,
    // Tests with fake timers may skip hours.
    cacheTtlMs: Number.MAX_SAFE_INTEGER,
    retries: 1,
    fallbacks,
  });
  await client.initialize();
  return client;
}
