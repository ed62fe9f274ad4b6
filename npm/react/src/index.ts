"use client";

export { Feature, type FeatureProps } from "./feature.js";
export {
  type FlagDetails,
  useFeatureFlagsClient,
  useFlag,
  useFlagDetails,
  useFlags,
  useFlagsStatus,
  useSuspenseFlag,
} from "./hooks.js";
export { FeatureFlagsProvider, type FeatureFlagsProviderProps } from "./provider.js";
export type { FlagsStatus } from "./status.js";
