import { type DynamicModule, Module, type Provider, Scope } from "@nestjs/common";
import { REQUEST } from "@nestjs/core";
import type { FeatureFlagsClient } from "@pennon/core";
import { ClientLifecycle } from "./internal/lifecycle.js";
import { RequestEvaluator } from "./internal/request-evaluator.js";
import {
  clientToken,
  DEFAULT,
  evaluatorToken,
  lifecycleToken,
  optionsToken,
  requestToken,
} from "./internal/tokens.js";
import type {
  FeatureFlagsModuleAsyncOptions,
  FeatureFlagsModuleNamedOptions,
  FeatureFlagsModuleOptions,
} from "./options.js";
import { FeatureFlags } from "./service.js";

/**
 * Feature flags for the whole application. Import it once for each client:
 *
 * ```ts
 * FeatureFlagsModule.forRoot({ options: { sdkKey: "pnk_…" }, context: (request) => ({ userId: request.user?.id }) })
 * ```
 *
 * The module waits for its flags before a provider that injects them is created, and before any `onModuleInit`. It
 * shuts its client down after the application has stopped accepting requests.
 */
@Module({})
// biome-ignore lint/complexity/noStaticOnlyClass: Nest identifies a module by its class.
export class FeatureFlagsModule {
  static forRoot({ name, ...options }: FeatureFlagsModuleNamedOptions): DynamicModule {
    return dynamic(name, { useValue: options });
  }

  static forRootAsync({
    name,
    imports = [],
    inject = [],
    useFactory,
  }: FeatureFlagsModuleAsyncOptions): DynamicModule {
    return { ...dynamic(name, { useFactory, inject }), imports };
  }
}

type Source =
  | { readonly useValue: FeatureFlagsModuleOptions }
  | Required<Pick<FeatureFlagsModuleAsyncOptions, "useFactory" | "inject">>;

/** Returns the module. All that reads flags injects the client by its token, so that a test can override it. */
function dynamic(name: string = DEFAULT, source: Source): DynamicModule {
  const providers: Provider[] = [
    { provide: optionsToken(name), ...source } as Provider,
    {
      provide: lifecycleToken(name),
      useFactory: (options: FeatureFlagsModuleOptions) => new ClientLifecycle(options, name),
      inject: [optionsToken(name)],
    },
    {
      provide: clientToken(name),
      useFactory: (lifecycle: ClientLifecycle) => lifecycle.start(),
      inject: [lifecycleToken(name)],
    },
    {
      provide: evaluatorToken(name),
      useFactory: (client: FeatureFlagsClient, { options, logger }: ClientLifecycle) =>
        new RequestEvaluator(client, options, logger),
      inject: [clientToken(name), lifecycleToken(name)],
    },
    {
      provide: requestToken(name),
      scope: Scope.REQUEST,
      useFactory: (evaluator: RequestEvaluator, request: unknown) =>
        new FeatureFlags(evaluator, request),
      inject: [evaluatorToken(name), REQUEST],
    },
  ];
  const exports: (string | typeof FeatureFlags)[] = [
    evaluatorToken(name),
    clientToken(name),
    requestToken(name),
  ];
  if (name === DEFAULT) {
    providers.push({ provide: FeatureFlags, useExisting: requestToken(name) });
    exports.push(FeatureFlags);
  }
  return { module: FeatureFlagsModule, global: true, providers, exports };
}
