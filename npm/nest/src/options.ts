import type { FactoryProvider, ModuleMetadata } from "@nestjs/common";
import type {
  EvaluationContext,
  FeatureFlagsClient,
  FeatureFlagsClientOptions,
} from "@pennon/core";

/**
 * Finds for whom a request is, whenever a flag is read for it. It runs after guards and middleware that came before, so what
 * they have put on the request is there. If it throws, that is logged, and there is no answer: the flag counts as off.
 */
// biome-ignore lint/suspicious/noExplicitAny: what a request is, Express, Fastify and the application's own guards decide.
export type ContextResolver = (request: any) => EvaluationContext;

export interface FeatureFlagsModuleOptions {
  /** What the module makes a client of, which it initialises and shuts down with the application. */
  readonly options?: FeatureFlagsClientOptions | undefined;
  /** A client instead, which goes before options. It is initialised if it is not ready, and stays the application's to shut down. */
  readonly client?: FeatureFlagsClient | undefined;
  /** For whom a request is. By default for nobody in particular. */
  readonly context?: ContextResolver | undefined;
  /**
   * Whether the application must not start without flags. By default it does, unknown flags being off, and the module goes on
   * trying.
   */
  readonly required?: boolean | undefined;
  /** How long the start waits for flags that are not required, in milliseconds. Default 5000. */
  readonly waitMs?: number | undefined;
}

export interface FeatureFlagsModuleNamedOptions extends FeatureFlagsModuleOptions {
  /** Tells clients apart, if there are several. */
  readonly name?: string | undefined;
}

export interface FeatureFlagsModuleAsyncOptions {
  /** Tells clients apart, if there are several. */
  readonly name?: string | undefined;
  /** Modules that provide what is injected. */
  readonly imports?: ModuleMetadata["imports"];
  /** What `useFactory` is called with. */
  readonly inject?: FactoryProvider["inject"];
  readonly useFactory: FactoryProvider<
    FeatureFlagsModuleOptions | Promise<FeatureFlagsModuleOptions>
  >["useFactory"];
}
