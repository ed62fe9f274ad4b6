// Runs Lighthouse on pages of the dashboard, and prints its scores as a table. `cargo xtask bench lighthouse` runs it.
//
// The arguments are paths. PENNON_URL is the address of the server, PENNON_COOKIE the cookie of a session, and
// CHROME_PATH the browser.

import { launch } from "chrome-launcher";
import lighthouse, { desktopConfig } from "lighthouse";

const { PENNON_URL = "", PENNON_COOKIE = "" } = process.env;

/** The scored categories, each from 0 to 100. */
const categories = ["performance", "accessibility", "best-practices"];

/** The metrics behind the performance score. */
const times = [
  "first-contentful-paint",
  "largest-contentful-paint",
  "total-blocking-time",
  "cumulative-layout-shift",
];

/** The configurations: a desktop, and Lighthouse's default, a phone with a slow connection. */
const forms = [
  ["desktop", desktopConfig],
  ["phone", undefined],
];

const chrome = await launch({
  chromeFlags: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"],
});
try {
  console.log(`| | | ${[...categories, ...times].join(" | ")} |`);
  console.log(`|---|---|${"--:|".repeat(categories.length + times.length)}`);
  for (const path of process.argv.slice(2)) {
    for (const [form, config] of forms) {
      const { categories: scores, audits } = await look(path, config);
      const cells = [
        ...categories.map((name) => Math.round((scores[name]?.score ?? 0) * 100)),
        ...times.map((name) => audits[name]?.displayValue),
      ];
      console.log(`| ${path} | ${form} | ${cells.join(" | ")} |`);
    }
  }
} finally {
  chrome.kill();
}

/** Measures one page with Lighthouse. A signed-in browser never sees the sign-in page. */
async function look(path, config) {
  const extraHeaders = path.endsWith("/login") ? undefined : { Cookie: PENNON_COOKIE };
  const flags = { port: chrome.port, onlyCategories: categories, logLevel: "error", extraHeaders };
  const result = await lighthouse(`${PENNON_URL}${path}`, flags, config);
  if (result === undefined || result.lhr.runtimeError !== undefined) {
    throw new Error(
      `${path}: ${result?.lhr.runtimeError?.message ?? "Lighthouse returned no result"}`,
    );
  }
  return result.lhr;
}
