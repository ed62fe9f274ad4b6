import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const oldest = fileURLToPath(new URL("../../tests/react-18/node_modules", import.meta.url));

/** Runs all tests once with each supported version of React. The newest is the one that this package installs. */
export default defineConfig({
  test: {
    projects: [
      project("19", {}),
      project("18", { react: `${oldest}/react`, "react-dom": `${oldest}/react-dom` }),
    ],
  },
});

function project(react: string, alias: Record<string, string>) {
  return {
    resolve: { alias },
    test: {
      name: `React ${react}`,
      env: { REACT: react },
      include: ["test/**/*.test.{ts,tsx}"],
      testTimeout: 60_000,
      environment: "jsdom",
      // All files of a worker share one page. Each file unmounts its components.
      isolate: false,
    },
  };
}
