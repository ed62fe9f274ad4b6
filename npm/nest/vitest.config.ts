import { createRequire } from "node:module";
import { dirname } from "node:path";
import { defineConfig } from "vitest/config";

const newest = createRequire(new URL("../../tests/nest-12/package.json", import.meta.url));
const packages = ["common", "core", "platform-express", "platform-fastify"];

/** Everything once with each NestJS that is supported: the oldest is the one that this package has installed. */
export default defineConfig({
  test: {
    projects: [
      project("11", {}),
      project(
        "12",
        Object.fromEntries(
          packages.map((name) => [
            `@nestjs/${name}`,
            dirname(newest.resolve(`@nestjs/${name}/package.json`)),
          ]),
        ),
      ),
    ],
  },
});

function project(nest: string, alias: Record<string, string>) {
  return {
    resolve: { alias },
    test: {
      name: `NestJS ${nest}`,
      env: { NEST: nest },
      include: ["test/**/*.test.ts"],
      testTimeout: 60_000,
    },
  };
}
