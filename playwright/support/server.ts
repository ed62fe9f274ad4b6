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
  readonly #process: ChildProcess;
  readonly #folder: string;
  #output = "";

  private constructor(folder: string, port: number) {
    this.url = `http://127.0.0.1:${port}`;
    this.#folder = folder;
    this.#process = spawn(binary, {
      cwd: folder,
      env: {
        PENNON_LISTEN: `127.0.0.1:${port}`,
        PENNON_ADMIN_EMAIL: this.email,
        PENNON_ADMIN_PASSWORD: this.password,
        DATABASE_URL: `sqlite://${join(folder, "pennon.db")}`,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  /** Starts one on a port that no other worker would take, and waits until it says that it is ready. */
  static async start(worker: number): Promise<Server> {
    for (;;) {
      const folder = await mkdtemp(join(tmpdir(), "pennon-"));
      const port = firstPort + worker * portsPerWorker + (portsTried++ % portsPerWorker);
      const server = new Server(folder, port);
      if (await server.#isReady()) {
        return server;
      }
      await rm(folder, { recursive: true, force: true });
      if (!server.#output.includes("in use")) {
        throw new Error(`The server did not start:\n${server.#output}`);
      }
    }
  }

  /** There is nothing to keep, so nothing is worth waiting for. */
  async stop(): Promise<void> {
    const ended = once(this.#process, "close");
    this.#process.kill("SIGKILL");
    await ended;
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Resolves when the server names its address, or ends. */
  #isReady(): Promise<boolean> {
    return new Promise((resolve) => {
      for (const stream of [this.#process.stdout, this.#process.stderr]) {
        stream?.setEncoding("utf8").on("data", (text: string) => {
          this.#output += text;
          if (this.#output.includes(this.url)) {
            resolve(true);
          }
        });
      }
      this.#process.on("error", (error) => {
        this.#output += `${binary}: ${error.message}`;
      });
      this.#process.on("close", () => resolve(false));
    });
  }
}
