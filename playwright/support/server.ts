import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const binary =
  process.env.PENNON_BINARY ?? fileURLToPath(new URL("../../target/debug/pennon", import.meta.url));

/** Below the ports that systems hand out by themselves, so that only another run of these tests can be in the way. */
const firstPort = 20_000;
const portsPerWorker = 1_000;
let portsTried = 0;

/** The real server, with a database of its own that goes when it does. */
export class Server {
  readonly url: string;
  readonly email = "ana@example.com";
  readonly password = "correct horse battery staple";
  readonly #folder: string;
  readonly #settings: Readonly<Record<string, string>>;
  #panics: string[] = [];
  #process: ChildProcess | undefined;

  private constructor(folder: string, port: number, settings: Readonly<Record<string, string>>) {
    this.url = `http://127.0.0.1:${port}`;
    this.#folder = folder;
    this.#settings = settings;
  }

  /** A new one, on a port that no other worker would take, with more settings if need be. It has been started. */
  static async create(
    worker: number,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<Server> {
    for (;;) {
      const folder = await mkdtemp(join(tmpdir(), "pennon-"));
      const port = firstPort + worker * portsPerWorker + (portsTried++ % portsPerWorker);
      const server = new Server(folder, port, settings);
      try {
        await server.start();
        return server;
      } catch (error) {
        await server.dispose();
        if (!String(error).includes("in use")) {
          throw error;
        }
      }
    }
  }

  /** Starts it, again at the same address and with the same data, and waits until it says that it is ready. */
  start(): Promise<void> {
    const { host } = new URL(this.url);
    const child = spawn(binary, {
      cwd: this.#folder,
      env: {
        PENNON_LISTEN: host,
        PENNON_ADMIN_EMAIL: this.email,
        PENNON_ADMIN_PASSWORD: this.password,
        DATABASE_URL: `sqlite://${join(this.#folder, "pennon.db")}`,
        ...this.#settings,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#process = child;
    return new Promise((resolve, reject) => {
      let output = "";
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => {
          output += text;
          this.#panics.push(...(text.match(/^.* panicked at [\s\S]*/gm) ?? []));
          if (output.includes(this.#settings.PENNON_PUBLIC_URL ?? this.url)) {
            resolve();
          }
        });
      }
      child.on("error", (error) => {
        output += `${binary}: ${error.message}`;
      });
      child.on("close", () => reject(new Error(`The server did not start:\n${output}`)));
    });
  }

  /** The panic messages in the server's output. No request may cause one. */
  get panics(): readonly string[] {
    return this.#panics;
  }

  /** Ends it at once, as a crash would. What it has stored stays. */
  async stop(): Promise<void> {
    const child = this.#process;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = once(child, "close");
      child.kill("SIGKILL");
      await ended;
    }
  }

  /** Ends it in good order, so that it keeps all that it has counted, and starts it again. */
  async restart(): Promise<void> {
    const child = this.#process;
    if (child !== undefined) {
      const ended = once(child, "close");
      child.kill("SIGTERM");
      await ended;
    }
    await this.start();
  }

  /** Ends it for good: the data goes too. */
  async dispose(): Promise<void> {
    await this.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
