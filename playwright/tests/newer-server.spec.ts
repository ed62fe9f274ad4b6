import { country } from "../support/flag-page.ts";
import { servePlain, test } from "../support/shop.ts";
import { expect, signIn } from "../support/test.ts";

const KEYS = Array.from({ length: 50 }, (_, index) => `flag_${index}`);

/** The flag with an operator that the page's client does not know. */
const NEWER = "flag_17";

test("an operator of a newer server affects one flag of fifty", {
  tag: "@scripts",
}, async ({ page, server, api, serve }) => {
  const environment = await api.createEnvironment("Web shop", "production");
  for (const [index, key] of KEYS.entries()) {
    const flag = await api.createFlag(key, key);
    await api.switch(flag, environment, true);
    await api.addRule(flag, environment, country("DE", 1, index % 2 === 0));
  }
  const shop = await serve(servePlain, environment);
  await page.context().grantPermissions(["local-network-access"]);
  await page.route("**/sdk/v1/config", async (route) => {
    const response = await route.fetch();
    if (response.status() !== 200) {
      return route.fulfill({ response });
    }
    const config = await response.json();
    for (const flag of config.flags) {
      if (flag.key === NEWER) {
        flag.rules[0].conditions[0].operator = "matches";
      }
    }
    await route.fulfill({ response, json: config });
  });
  await page.goto(shop.url);
  const read = await page.evaluate(async (keys) => {
    const { FeatureFlagsClient } = await import("/pennon/index.js" as string);
    const { default: settings } = await import("/settings.js" as string);
    const warnings: string[] = [];
    const quiet = () => {};
    const logger = {
      debug: quiet,
      info: quiet,
      error: quiet,
      warn: (text: string) => warnings.push(text),
    };
    const client = new FeatureFlagsClient({ ...settings, logger });
    await client.initialize();
    const reader = client.withContext({ country: "DE" });
    const answers = keys.map((key) => reader.read(key)?.enabled ?? null);
    await client.shutdown();
    return { answers, warnings };
  }, KEYS);
  const expected = KEYS.map((key, index) => (key === NEWER ? null : index % 2 === 0));
  expect(read.answers).toEqual(expected);
  expect(read.warnings).toEqual([expect.stringContaining(`'${NEWER}' has "matches"`)]);

  // Counts are written once a minute and when the server stops. An open page would report that it cannot reach the
  // server during the restart.
  await page.goto("about:blank");
  await server.restart();
  await page.goto(`/dashboard/environments/${environment.id}`);
  await signIn(page, server);
  const clients = page.getByRole("region", { name: "Clients" }).getByRole("row");
  await expect(clients).toHaveText([/Client/, /@pennon\/core.*\d+\.\d+\.\d+.*fetches/]);
});
