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
import { run } from "../../support/run.ts";
import { Service } from "../../support/service.ts";

/** The arguments that make Vite listen on a free port, because its default port may be in use. */
const listen = ["--", "--host", "127.0.0.1", "--port", "0"] as const;

/** The arguments that make Next.js listen on a free port. */
const anyPort = ["--", "--port", "0"] as const;

describe("examples/react-vite", () => {
  it("follows the flags in development", async () => {
    const folder = await newExample("react-vite");
    await using service = await Service.start();
    serveShop(service, true);
    const env = settings(service.url);
    await using example = await start(folder, ["npm", "start", ...listen], env);
    await using browser = await launch();
    await expectPage(browser, example.url, service);
  });

  it("follows the flags when deployed", async () => {
    const folder = await newExample("react-vite");
    await using service = await Service.start();
    serveShop(service, true);
    const env = settings(service.url);
    await run("npm", ["run", "build"], { cwd: folder, env });
    await using example = await start(folder, ["npm", "run", "preview", ...listen], env);
    await using browser = await launch();
    await expectPage(browser, example.url, service);
  });
});

describe("examples/next-app", () => {
  it.each([
    ["in development", ["npm", "run", "dev", ...anyPort]],
    ["when deployed", ["npm", "start", ...anyPort]],
  ] as const)("follows the flags %s", async (_, command) => {
    const folder = await newExample("next-app");
    await using service = await Service.start();
    serveShop(service, true);
    await using example = await start(folder, command, settings(service.url));
    await using browser = await launch();
    await expectRenderedPage(browser, example.url, service);
  });
});

describe.each(["nest-api", "node-express"])("examples/%s", (name) => {
  it("follows the flags in production", async () => {
    const folder = await newExample(name);
    await using service = await Service.start();
    serveShop(service, true);
    const env = { ...settings(service.url), NODE_ENV: "production" };
    await using example = await start(folder, ["npm", "start"], env);
    await expectApi(example.url, service);
  });
});
