import { defineConfig, devices } from "@playwright/test";

// `cargo xtask playwright` names the browser. Without it, Playwright looks for its own.
const executablePath = process.env.PENNON_CHROMIUM;

export default defineConfig({
  testDir: "tests",
  outputDir: "results",
  forbidOnly: true,
  fullyParallel: true,
  workers: 2,
  reporter: "list",
  // Patience for a machine that compiles something else meanwhile.
  timeout: 60_000,
  expect: { timeout: 15_000 },
  use: {
    ...devices["Desktop Chrome"],
    contextOptions: { reducedMotion: "reduce" },
    launchOptions: executablePath === undefined ? {} : { executablePath },
  },
  projects: [
    { name: "with scripts" },
    // Every page has to work as plain HTML; what only scripts can do says so by its tag.
    { name: "without scripts", grepInvert: /@scripts/, use: { javaScriptEnabled: false } },
  ],
});
