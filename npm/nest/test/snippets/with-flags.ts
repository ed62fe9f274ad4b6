import { FeatureFlagsModule } from "@pennon/nest";

export const withFlags = (...on: string[]) =>
  FeatureFlagsModule.forRoot({
    options: {
      sdkKey: "pnk_test",
      pollIntervalMs: 0,
      bootstrap: { flags: on.map((key) => ({ key, enabled: true, rules: [], rollout: null })) },
    },
  });
