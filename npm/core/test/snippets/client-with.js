import { FeatureFlagsClient } from "@pennon/core";

/** Returns a client for which these flags are on, and no others exist. */
export function clientWith(...keys) {
  return FeatureFlagsClient.fromSnapshot({
    version: 1,
    flags: keys.map((key) => ({ key, enabled: true, reason: "flag_enabled", targeted: false })),
  });
}
