import type { FactoryProvider, ModuleMetadata } from "@nestjs/common";
import type {
  EvaluationContext,
  FeatureFlagsClient,
  FeatureFlagsClientOptions,
} from "@pennon/core";

/**
 * Returns the evaluation context of a request. The module calls it at every read of a flag, so it sees what guards and
 * middleware have added to the request. If it throws or returns a promise, an error is logged, and the flag cannot be
 * evaluated: it counts as off.
 */
// biome-ignore lint/suspicious/noExplicitAny: Express, Fastify and the application's guards determine the type.
export type ContextResolver = (request: any) => EvaluationContext;

export interface FeatureFlagsModuleOptions {
  /**
   * The options of a client, which the module creates, initializes, and shuts down with the application. It evaluates
   * a context for each request, so `mode: "remote"`, which is for one context, is not possible.
   */
  readonly options?: Omit<FeatureFlagsClientOptions, "mode" | "context"> | undefined;
  /**
   * Your own client; takes precedence over `options`. The module initializes it if necessary. You shut it down. It must
   * not have `mode: "remote"`.
   */
  readonly client?: FeatureFlagsClient | undefined;
  /** Returns the context of a request. By default requests have no context. */
  readonly context?: ContextResolver | undefined;
  /**
   * True to require flags: without them, the application does not start. By default it starts with unknown flags off,
   * and the module keeps trying to fetch them.
   */
  readonly required?: boolean | undefined;
  /** The maximum time that the start waits for flags, in milliseconds, unless they are `required`. Default 5000. */
  readonly waitMs?: number | undefined;
}

export interface FeatureFlagsModuleNamedOptions extends FeatureFlagsModuleOptions {
  /** The name of this client, if there are several. */
  readonly name?: string | undefined;
}

export interface FeatureFlagsModuleAsyncOptions {
  /** The name of this client, if there are several. */
  readonly name?: string | undefined;
  /** Modules that export the injected providers. */
  readonly imports?: ModuleMetadata["imports"];
  /** The providers that are passed to `useFactory`. */
  readonly inject?: FactoryProvider["inject"];
  readonly useFactory: FactoryProvider<
    FeatureFlagsModuleOptions | Promise<FeatureFlagsModuleOptions>
  >["useFactory"];
}
