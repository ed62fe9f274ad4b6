import type { FeatureFlagsClient } from "@pennon/core";

/** Warns of the first failed refresh, and of the next one only after a successful one. */
export function warnOfRefreshes(client: FeatureFlagsClient, warn: (message: string) => void): void;
