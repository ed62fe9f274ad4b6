import { defineConfig } from "vitest/config";

// In the gate few tools are tried, and with PENNON_MATRIX=all every one of them.
const tests = process.env.PENNON_MATRIX === "all" ? "test/**/*.test.ts" : "test/gate/*.test.ts";

export default defineConfig({
  test: {
    include: [tests],
    globalSetup: "support/workshop.ts",
    // Tools build; patience for a machine that compiles something else meanwhile.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    maxWorkers: 2,
  },
});
