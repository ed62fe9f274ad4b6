import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    globalSetup: "support/drivers.ts",
    // A driver serves one session at a time.
    fileParallelism: false,
    reporters: ["verbose"],
    // Long enough for a machine that compiles something else at the same time.
    testTimeout: 120_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000, interval: 100 } },
  },
});
