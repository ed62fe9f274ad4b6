import { defineConfig, devices } from "@playwright/test";

// `cargo xtask playwright` names the browser. Without it, Playwright looks for its own browser.
const executablePath = process.env.PENNON_CHROMIUM;

export default defineConfig({
  testDir: "tests",
  outputDir: "results",
  forbidOnly: true,
  fullyParallel: true,
  workers: 3,
  reporter: "list",
  // Long enough for a machine that compiles something else at the same time.
  timeout: 60_000,
  expect: { timeout: 15_000 },
  use: {
    ...devices["Desktop Chrome"],
    contextOptions: { reducedMotion: "reduce" },
    launchOptions: executablePath === undefined ? {} : { executablePath },
  },
  projects: [
    { name: "with scripts" },
    // Every page must work as plain HTML. Tests of features that need scripts have a tag.
    { name: "without scripts", grepInvert: /@scripts/, use: { javaScriptEnabled: false } },
  ],
});
