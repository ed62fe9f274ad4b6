import { FeatureFlagsClient } from "@pennon/core";
import { FeatureFlagsModule } from "@pennon/nest";

/** Replaces the module by one for which these flags are on, and no others exist. */
export const withFlags = (...on: string[]) =>
  FeatureFlagsModule.forRoot({
    client: FeatureFlagsClient.fromSnapshot({
      version: 1,
      flags: on.map((key) => ({ key, enabled: true, reason: "flag_enabled", targeted: false })),
    }),
  });
