import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const oldest = fileURLToPath(new URL("../../tests/react-18/node_modules", import.meta.url));

/** Everything once with each React that is supported: the newest is the one that this package has installed. */
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
      environment: "jsdom",
      // One page for all files of a worker: each unmounts what it has mounted.
      isolate: false,
    },
  };
}
