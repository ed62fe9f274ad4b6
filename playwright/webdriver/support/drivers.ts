import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { TestProject } from "vitest/node";
import { freePort } from "../../support/port.ts";

/** A browser whose driver is running. */
export type Browser = {
  readonly name: string;
  /** The address of the driver. */
  readonly driver: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
};

declare module "vitest" {
  export interface ProvidedContext {
    browsers: readonly Browser[];
  }
}

const {
  PENNON_BROWSERS = "firefox,webkit",
  PENNON_FIREFOX,
  PENNON_GECKODRIVER = "geckodriver",
} = process.env;

const startTimeout = 30_000;

/** Starts the drivers of the browsers in `PENNON_BROWSERS`, and stops them after the tests. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const processes = new Processes();
  try {
    const names = PENNON_BROWSERS.split(",");
    const browsers: Browser[] = [];
    if (names.includes("firefox")) {
      browsers.push(await startFirefox(processes));
    }
    if (names.includes("webkit")) {
      browsers.push(await startWebKit(processes));
    }
    project.provide("browsers", browsers);
    return () => processes.stop();
  } catch (error) {
    await processes.stop();
    throw error;
  }
}

async function startFirefox(processes: Processes): Promise<Browser> {
  const [port, bidiPort] = [await freePort(), await freePort()];
  const driver = await processes.startDriver(port, PENNON_GECKODRIVER, [
    `--port=${port}`,
    `--websocket-port=${bidiPort}`,
  ]);
  const options = {
    args: ["-headless"],
    prefs: { "ui.prefersReducedMotion": 1 },
    ...(PENNON_FIREFOX === undefined ? {} : { binary: PENNON_FIREFOX }),
  };
  const capabilities = {
    browserName: "firefox",
    // WebDriver BiDi, which reports uncaught errors.
    webSocketUrl: true,
    "moz:firefoxOptions": options,
  };
  return { name: "Firefox", driver, capabilities };
}

async function startWebKit(processes: Processes): Promise<Browser> {
  const display = await processes.startDisplay();
  const port = await freePort();
  const driver = await processes.startDriver(port, "WebKitWebDriver", [`--port=${port}`], {
    DISPLAY: display,
    GDK_BACKEND: "x11",
  });
  // The driver starts the MiniBrowser that was built with it.
  return { name: "WebKit", driver, capabilities: { browserName: "MiniBrowser" } };
}

/**
 * The programs that the tests need, which never outlive the process that started them, and a folder for their files.
 */
class Processes {
  readonly #folder = mkdtempSync(join(tmpdir(), "pennon-browsers-"));
  readonly #all: ChildProcess[] = [];
  readonly #clear = () => {
    this.#all.forEach(killGroup);
    try {
      rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    } catch {
      // A server of an interrupted test is still writing. Its data stays in the folder for temporary files.
    }
  };

  constructor() {
    // The servers of the tests also keep their data in this folder.
    process.env.TMPDIR = this.#folder;
    process.on("exit", this.#clear);
  }

  /** Starts a driver, waits until it answers, and returns its address. */
  async startDriver(
    port: number,
    program: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv = {},
  ): Promise<string> {
    const child = this.#start(program, args, { stdio: "ignore", env });
    const address = `http://127.0.0.1:${port}`;
    await this.#before(child, program, async (signal) => {
      while (!(await answers(address, signal))) {
        await delay(50, undefined, { signal });
      }
    });
    return address;
  }

  /** Starts an X server without a screen on a free display, and returns the display's name. */
  async startDisplay(): Promise<string> {
    const args = ["-displayfd", "3", "-screen", "0", "1280x900x24", "-nolisten", "tcp"];
    const stdio = ["ignore", "ignore", "ignore", "pipe"] as const;
    const child = this.#start("Xvfb", args, { stdio: [...stdio] });
    const output = child.stdio[3];
    return this.#before(child, "Xvfb", async (signal) => {
      const [number] = output ? await once(output, "data", { signal }) : [];
      return `:${String(number).trim()}`;
    });
  }

  async stop(): Promise<void> {
    const ends = this.#all.map(ended);
    this.#all.forEach(killGroup);
    await Promise.all(ends);
    this.#clear();
    process.off("exit", this.#clear);
  }

  #start(program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
    const env = { ...process.env, HOME: this.#folder, ...options.env };
    // The process leads a group, so that the browsers it starts can be stopped with it.
    const child = spawn(program, args, { ...options, env, detached: true });
    this.#all.push(child);
    return child;
  }

  /** Waits for a child to be ready. Fails if the child ends first, or takes too long. */
  async #before<T>(
    child: ChildProcess,
    program: string,
    ready: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const abort = new AbortController();
    const failure = Promise.race([
      once(child, "exit", abort).then(([code]) => `ended with ${code}`),
      delay(startTimeout, "did not answer in time", abort),
    ]).then((reason) => {
      throw new Error(`${program} ${reason}`);
    });
    try {
      return await Promise.race([ready(abort.signal), failure]);
    } finally {
      failure.catch(() => {});
      abort.abort();
    }
  }
}

async function answers(driver: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await fetch(`${driver}/status`, { signal })).ok;
  } catch {
    return false;
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    await once(child, "exit");
  }
}

function killGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-(pid ?? Number.NaN), "SIGKILL");
  } catch {
    // The group has ended.
  }
}
