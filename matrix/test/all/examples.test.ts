import { describe, it } from "vitest";
import { launch } from "../../support/browser.ts";
import {
  expectApi,
  expectPage,
  expectRenderedPage,
  newExample,
  serveShop,
  settings,
  start,
} from "../../support/examples.ts";
import { FakeServer } from "../../support/fake-server.ts";
import { run } from "../../support/run.ts";

/** The arguments that make Vite listen on a free port, because its default port may be in use. */
const listen = ["--", "--host", "127.0.0.1", "--port", "0"] as const;

/** The arguments that make Next.js listen on a free port. */
const anyPort = ["--", "--port", "0"] as const;

describe("examples/react-vite", () => {
  it("follows the flags in development", async () => {
    const folder = await newExample("react-vite");
    await using server = await FakeServer.start();
    serveShop(server, true);
    const env = settings(server.url);
    await using example = await start(folder, ["npm", "start", ...listen], env);
    await using browser = await launch();
    await expectPage(browser, example.url, server);
  });

  it("follows the flags when deployed", async () => {
    const folder = await newExample("react-vite");
    await using server = await FakeServer.start();
    serveShop(server, true);
    const env = settings(server.url);
    await run("npm", ["run", "build"], { cwd: folder, env });
    await using example = await start(folder, ["npm", "run", "preview", ...listen], env);
    await using browser = await launch();
    await expectPage(browser, example.url, server);
  });
});

describe("examples/next-app", () => {
  it.each([
    ["in development", ["npm", "run", "dev", ...anyPort]],
    ["when deployed", ["npm", "start", ...anyPort]],
  ] as const)("follows the flags %s", async (_, command) => {
    const folder = await newExample("next-app");
    await using server = await FakeServer.start();
    serveShop(server, true);
    await using example = await start(folder, command, settings(server.url));
    await using browser = await launch();
    await expectRenderedPage(browser, example.url, server);
  });
});

describe.each(["nest-api", "node-express"])("examples/%s", (name) => {
  it("follows the flags in production", async () => {
    const folder = await newExample(name);
    await using server = await FakeServer.start();
    serveShop(server, true);
    const env = { ...settings(server.url), NODE_ENV: "production" };
    await using example = await start(folder, ["npm", "start"], env);
    await expectApi(example.url, server);
  });
});
