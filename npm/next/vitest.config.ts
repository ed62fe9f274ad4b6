import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: {
    alias: {
      // Resolve packages as a bundler does for a server.
      "@pennon/next/flags": fileURLToPath(new URL("dist/flags.js", import.meta.url)),
      "@pennon/next/server": fileURLToPath(new URL("dist/server.js", import.meta.url)),
    },
  },
  test: { include: ["test/**/*.test.{ts,tsx}"], testTimeout: 60_000 },
});
