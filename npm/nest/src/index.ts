export {
  FlagValue,
  type FlagValueOptions,
  getFeatureFlagsToken,
  InjectFeatureFlags,
  InjectRequestFlags,
  RequireFlag,
  type RequireFlagOptions,
} from "./decorators.js";
export { FeatureFlagsModule } from "./module.js";
export type {
  ContextResolver,
  FeatureFlagsModuleAsyncOptions,
  FeatureFlagsModuleNamedOptions,
  FeatureFlagsModuleOptions,
} from "./options.js";
export { FeatureFlags } from "./service.js";
