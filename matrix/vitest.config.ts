import { defineConfig } from "vitest/config";

// The gate tests a few tools, and PENNON_MATRIX=all tests every one of them.
const tests = process.env.PENNON_MATRIX === "all" ? "test/**/*.test.ts" : "test/gate/*.test.ts";

export default defineConfig({
  test: {
    include: [tests],
    globalSetup: "support/workshop.ts",
    // Long enough for the builds of tools on a machine that compiles something else at the same time.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    maxWorkers: 2,
  },
});
