// Measures the time from the last byte of a page's HTML to the first paint, which shows the first rows of a list, and
// prints it as a table. `cargo xtask bench lighthouse` runs it.
//
// The arguments are paths. PENNON_URL is the address of the server, PENNON_COOKIE the cookie of a session, and
// CHROME_PATH the browser. A page with a single word takes turns with the others, because it shows how long the browser
// itself takes on this machine.

import { createServer } from "node:http";
import { chromium } from "@playwright/test";
import { median } from "../start/median.js";

const { PENNON_URL = "", PENNON_COOKIE = "", CHROME_PATH } = process.env;

const rounds = 25;

const word = createServer((_, response) => {
  response.setHeader("content-type", "text/html").end("<!doctype html><title>A word</title>Word");
});
await new Promise((resolve) => word.listen(0, "127.0.0.1", resolve));
const pages = [
  ["a page with a word", `http://127.0.0.1:${word.address().port}/`],
  ...process.argv.slice(2).map((path) => [path, `${PENNON_URL}${path}`]),
];

const browser = await chromium.launch({ executablePath: CHROME_PATH });
try {
  const context = await browser.newContext({ extraHTTPHeaders: { cookie: PENNON_COOKIE } });
  const page = await context.newPage();
  const times = pages.map(() => []);
  // The first round fills the browser's cache, and is not counted.
  for (let round = 0; round <= rounds; round++) {
    for (const [index, [, url]] of pages.entries()) {
      const time = await visit(page, url);
      if (round > 0) {
        times[index].push(time);
      }
    }
  }
  print(times.map(median));
} finally {
  await browser.close();
  word.close();
}

/** Opens a page, and returns the milliseconds from its last byte to the first paint with content. */
async function visit(page, url) {
  await page.goto(url);
  const paint = await page.waitForFunction(
    () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
  );
  const received = await page.evaluate(
    () => performance.getEntriesByType("navigation")[0].responseEnd,
  );
  return (await paint.jsonValue()) - received;
}

function print(medians) {
  console.log("| | rounds | p50 ms | beyond a page with a word |");
  console.log("|---|--:|--:|--:|");
  for (const [index, [name]] of pages.entries()) {
    const [time, beyond] = [medians[index], medians[index] - medians[0]];
    console.log(`| ${name} | ${rounds} | ${time.toFixed(0)} | ${beyond.toFixed(0)} ms |`);
  }
}
