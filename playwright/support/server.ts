import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const binary =
  process.env.PENNON_BINARY ?? fileURLToPath(new URL("../../target/debug/pennon", import.meta.url));

/** Below the ephemeral ports, so that only another run of these tests can cause a conflict. */
const firstPort = 20_000;
const portsPerWorker = 1_000;
let portsTried = 0;

/** The file of a database after the first start, which each server starts with a copy of. */
let prepared: Promise<string> | undefined;

/** The real server, with its own database, which is deleted with it. */
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

  /** Creates and starts a server on a port that no other worker uses, with optional additional settings. */
  static async create(
    worker: number,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<Server> {
    prepared ??= Server.#prepare(worker);
    const original = await prepared;
    return Server.#createWith(worker, settings, (file) => copyFile(original, file));
  }

  /** Completes the first start on a new database, and returns its file. */
  static async #prepare(worker: number): Promise<string> {
    const server = await Server.#createWith(worker, {}, async () => {});
    await server.#end();
    process.once("exit", () => rmSync(server.#folder, { recursive: true, force: true }));
    return server.#file;
  }

  static async #createWith(
    worker: number,
    settings: Readonly<Record<string, string>>,
    fill: (file: string) => Promise<void>,
  ): Promise<Server> {
    for (;;) {
      const folder = await mkdtemp(join(tmpdir(), "pennon-"));
      const port = firstPort + worker * portsPerWorker + (portsTried++ % portsPerWorker);
      const server = new Server(folder, port, settings);
      await fill(server.#file);
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

  /**
   * Starts the server, always at the same address and with the same data, and waits until it reports that it is ready.
   */
  start(): Promise<void> {
    const { host } = new URL(this.url);
    const child = spawn(binary, {
      cwd: this.#folder,
      env: {
        PENNON_LISTEN: host,
        PENNON_ADMIN_EMAIL: this.email,
        PENNON_ADMIN_PASSWORD: this.password,
        DATABASE_URL: `sqlite://${this.#file}`,
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

  get #file(): string {
    return join(this.#folder, "pennon.db");
  }

  /** The panic messages in the server's output. No request may cause one. */
  get panics(): readonly string[] {
    return this.#panics;
  }

  /** Kills the server, as a crash would. Its stored data remains. */
  async stop(): Promise<void> {
    const child = this.#process;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = once(child, "close");
      child.kill("SIGKILL");
      await ended;
    }
  }

  /** Stops the server gracefully, so that it saves everything that it has counted, and starts it again. */
  async restart(): Promise<void> {
    await this.#end();
    await this.start();
  }

  async #end(): Promise<void> {
    const child = this.#process;
    if (child !== undefined) {
      const ended = once(child, "close");
      child.kill("SIGTERM");
      await ended;
    }
  }

  /** Stops the server and deletes its data. */
  async dispose(): Promise<void> {
    await this.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
