import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { include: ["test/**/*.test.{js,ts}"], unstubEnvs: true, testTimeout: 60_000 },
});
