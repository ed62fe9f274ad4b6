import { defineConfig } from "@playwright/test";
import tests from "./playwright.config.ts";

const desk = { width: 1280, height: 800 };
const phone = { width: 390, height: 844 };

/** The configuration of `cargo xtask screenshots`, which contains no tests but takes a screenshot of every page. */
export default defineConfig({
  ...tests,
  testDir: ".",
  testMatch: "screenshots.ts",
  projects: [
    { name: "light-1280", use: { colorScheme: "light", viewport: desk } },
    { name: "dark-1280", use: { colorScheme: "dark", viewport: desk } },
    { name: "light-390", use: { colorScheme: "light", viewport: phone } },
    { name: "dark-390", use: { colorScheme: "dark", viewport: phone } },
  ],
});
