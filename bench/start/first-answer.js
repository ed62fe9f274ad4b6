// Measures the time from a navigation to the first answer of each client, and prints the table of docs/performance.md:
// `cargo xtask bench first-answer`. PENNON_CHROMIUM is the browser.
//
// The clients take turns, each in a new browser context, without anything in a cache.

import { basename, join } from "node:path";
import { chromium } from "@playwright/test";
import { build } from "esbuild";
import { pennonBootstrap } from "./flags.js";
import { median } from "./median.js";
import { PUBLIC_KEY, StandIn } from "./stand-in.js";

const ROUNDS = Number(process.env.ROUNDS ?? 15);

/** The lines: download and upload in bits per second, and the latency of a round trip in milliseconds. */
const LINES = [
  { name: "no limit" },
  { name: "10 Mbit/s, 40 ms", bits: 10e6, latency: 40 },
  { name: "1.6 Mbit/s, 150 ms", bits: 1.6e6, latency: 150 },
];

const SERVER_KEY = `pnk_${"s".repeat(43)}`;

/** The address of the flags of the public key, and that of GrowthBook's. */
const FLAGS = `/sdk/v1/public/${PUBLIC_KEY}/config`;
const GROWTHBOOK_FLAGS = "/api/features/sdk-growthbook";

/** The clients: the script of the page, the key, and what the page preloads: the engine, or the flags at an address. */
const CLIENTS = [
  { name: "GrowthBook", script: "growthbook", key: "sdk-growthbook" },
  {
    name: "the same, flags preloaded",
    script: "growthbook",
    key: "sdk-growthbook",
    flags: GROWTHBOOK_FLAGS,
  },
  { name: "`@pennon/core`, public key", script: "pennon", key: PUBLIC_KEY },
  { name: "the same, engine preloaded", script: "pennon", key: PUBLIC_KEY, engine: true },
  {
    name: "the same, engine and flags preloaded",
    script: "pennon",
    key: PUBLIC_KEY,
    engine: true,
    flags: FLAGS,
  },
  { name: "`@pennon/core`, server key", script: "pennon", key: SERVER_KEY },
  { name: "`@pennon/core` with `bootstrapContext`", script: "pennon-context", key: PUBLIC_KEY },
  { name: "the same, server key", script: "pennon-context", key: SERVER_KEY },
  { name: '`@pennon/core`, `mode: "remote"`', script: "pennon-remote", key: PUBLIC_KEY },
  { name: "`@pennon/core` with `bootstrap`", script: "pennon-bootstrap", key: PUBLIC_KEY },
  { name: "LaunchDarkly", script: "launchdarkly", key: "client-side-id" },
  { name: "Unleash", script: "unleash", key: "frontend-token" },
];

const site = await StandIn.start();
const elsewhere = await StandIn.start();
const browser = await chromium.launch({ executablePath: process.env.PENNON_CHROMIUM });
try {
  const files = await bundles();
  for (const [name, service] of [
    ["From the same origin", site],
    ["From another origin", elsewhere],
  ]) {
    addPages(files, service);
    const lines = [];
    for (const line of LINES) {
      lines.push(await measure(line));
    }
    print(name, lines);
  }
} finally {
  await browser.close();
  site.stop();
  elsewhere.stop();
}

/** Bundles the pages like an application, and returns the names of the files of each. */
async function bundles() {
  const scripts = [...new Set(CLIENTS.map(({ script }) => script))];
  const all = new Map();
  for (const script of scripts) {
    const { outputFiles } = await build({
      absWorkingDir: import.meta.dirname,
      entryPoints: [`pages/${script}.js`],
      outdir: join("/", script),
      bundle: true,
      splitting: true,
      minify: true,
      format: "esm",
      target: "es2022",
      conditions: ["browser"],
      write: false,
    });
    for (const { path, text } of outputFiles) {
      site.addScript(`/${script}/${basename(path)}`, text);
    }
    all.set(
      script,
      outputFiles.map(({ path }) => basename(path)),
    );
  }
  return all;
}

/** Serves the pages, whose clients use this service. */
function addPages(files, { url }) {
  const bootstrap = JSON.stringify(pennonBootstrap).replaceAll("<", "\\u003c");
  for (const [index, { script, key, engine, flags }] of CLIENTS.entries()) {
    const file = files.get(script).find((name) => name.startsWith("engine"));
    const links = [
      engine ? `<link rel="modulepreload" href="/${script}/${file}">` : "",
      flags ? `<link rel="preload" as="fetch" crossorigin href="${url}${flags}">` : "",
    ].join("");
    const inlined = script.endsWith("bootstrap")
      ? `<script type="application/json" id="bootstrap">${bootstrap}</script>`
      : "";
    site.addPage(
      `/${index}`,
      `<!doctype html><html data-service="${url}" data-sdk-key="${key}"><head>` +
        `<link rel="icon" href="data:,">${inlined}` +
        `<script type="module" src="/${script}/${script}.js"></script>${links}</head></html>`,
    );
  }
}

/** Returns the visits to each client's page over this line. */
async function measure(line) {
  const visits = CLIENTS.map(() => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const index of CLIENTS.keys()) {
      visits[index].push(await visit(index, line));
    }
  }
  return visits;
}

/** Opens a page, and returns the time of its answer, and what it has loaded until then. */
async function visit(index, { bits, latency }) {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    if (bits !== undefined) {
      const session = await context.newCDPSession(page);
      await session.send("Network.emulateNetworkConditions", {
        offline: false,
        latency,
        downloadThroughput: bits / 8,
        uploadThroughput: bits / 8,
      });
    }
    site.reset();
    elsewhere.reset();
    await page.goto(`${site.url}/${index}`, { waitUntil: "commit" });
    const answer = await page.waitForFunction(() => globalThis.answer, undefined, {
      timeout: 20_000,
    });
    const { isOn, after } = await answer.jsonValue();
    if (!isOn) {
      throw new Error(`${CLIENTS[index].name} gave a wrong answer`);
    }
    const loads = await page.evaluate(loadsOfPage);
    return { after, ...travelled(loads, after) };
  } finally {
    await context.close();
  }
}

/** In the page: the start and the end of each load. */
function loadsOfPage() {
  const entries = [
    ...performance.getEntriesByType("navigation"),
    ...performance.getEntriesByType("resource"),
  ];
  return entries
    .filter(({ name }) => name.startsWith("http"))
    .map(({ name, startTime, responseEnd }) => ({ url: name, startTime, responseEnd }));
}

/** Returns the bytes that were loaded before the answer, and the number of round trips that waited for each other. */
function travelled(loads, after) {
  const before = loads.filter(({ responseEnd }) => responseEnd <= after);
  const responses = [...site.responses, ...elsewhere.responses];
  const paths = new Set(before.map(({ url }) => new URL(url).pathname));
  const bytes = responses
    .filter(({ path }) => paths.has(path))
    .reduce((sum, response) => sum + response.bytes, 0);
  const preflighted = new Set(
    responses.filter(({ method }) => method === "OPTIONS").map(({ path }) => path),
  );
  /** Returns the number of round trips until a load has ended: its own, and those for which it has waited. */
  const tripsUntil = ({ url, startTime }) => {
    const last = lastBefore(before, startTime);
    const own = preflighted.has(new URL(url).pathname) ? 2 : 1;
    return own + (last === undefined ? 0 : tripsUntil(last));
  };
  const trips = Math.max(...before.map(tripsUntil));
  return { bytes, trips };
}

/** Returns the load that ended last before this time. */
function lastBefore(loads, time) {
  return loads
    .filter(({ responseEnd, startTime }) => responseEnd <= time && startTime < time)
    .sort((one, other) => other.responseEnd - one.responseEnd)[0];
}

/** Prints the medians of the visits over each line. */
function print(origin, lines) {
  console.log(`\n${origin}:\n`);
  const names = LINES.map(({ name }) => name);
  console.log(`| | ${names.join(" | ")} | KiB before it | round trips |`);
  console.log(`|---|${"--:|".repeat(LINES.length + 2)}`);
  for (const [index, client] of CLIENTS.entries()) {
    const times = lines.map((visits) => {
      const [yardstick, after] = [visits[0], visits[index]].map((each) => of(each, "after"));
      return `${after.toFixed(0)} ms (${(after / yardstick).toFixed(2)} ×)`;
    });
    // Over the slowest line, a request that follows another one has waited for it. Without a limit, two requests at the
    // same time may also be answered one after the other.
    const visits = lines.at(-1);
    const kib = of(visits[index], "bytes") / 1_024;
    const cells = [client.name, ...times, kib.toFixed(1), of(visits[index], "trips")];
    console.log(`| ${cells.join(" | ")} |`);
  }
}

/** Returns the median of this property. */
function of(visits, property) {
  return median(visits.map((visit) => visit[property]));
}
