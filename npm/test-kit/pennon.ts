import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const binary =
  process.env.PENNON_BINARY ?? fileURLToPath(new URL("../../target/debug/pennon", import.meta.url));

const email = "ana@example.com";
const password = "correct horse battery staple";

/** The real server, on its own database, which is deleted with it. */
export class Pennon {
  /** The address that the server prints when it is ready. */
  url = "";
  readonly #process: ChildProcess;
  /** Resolves when the process has ended, or could not be started. */
  readonly #closed: Promise<void>;
  readonly #folder: string;
  #token = "";

  private constructor(folder: string) {
    this.#folder = folder;
    this.#process = spawn(binary, {
      cwd: folder,
      env: {
        PENNON_LISTEN: "127.0.0.1:0",
        PENNON_ADMIN_EMAIL: email,
        PENNON_ADMIN_PASSWORD: password,
        DATABASE_URL: `sqlite://${join(folder, "pennon.db")}`,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#closed = new Promise((resolve) => this.#process.on("close", () => resolve()));
  }

  /** Starts the server and signs in. */
  static async start(): Promise<Pennon> {
    const pennon = new Pennon(await mkdtemp(join(tmpdir(), "pennon-")));
    try {
      pennon.url = await pennon.#isReady();
      const session = await pennon.request("POST", "/auth/login", { email, password });
      pennon.#token = session.access_token;
    } catch (error) {
      await pennon.stop();
      throw error;
    }
    return pennon;
  }

  async stop(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#closed;
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Sends a request to the API, as the administrator or with an SDK key. */
  async request(method: string, path: string, body?: unknown, token = this.#token) {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) {
      throw new Error(`${method} ${path}: ${response.status} ${text}`);
    }
    return text === "" ? undefined : JSON.parse(text);
  }

  /** Returns the address of the server when it is ready. */
  #isReady(): Promise<string> {
    return new Promise((resolve, reject) => {
      let output = "";
      const fail = (reason: string) =>
        reject(
          new Error(`${binary} did not start: ${reason}. Has \`cargo build\` made it?\n${output}`),
        );
      for (const stream of [this.#process.stdout, this.#process.stderr]) {
        stream?.setEncoding("utf8").on("data", (text: string) => {
          output += text;
          const ready = /ready: (http:\/\/[\d.:]+)/.exec(output);
          if (ready?.[1] !== undefined) {
            resolve(ready[1]);
          }
        });
      }
      this.#process.on("error", (error) => fail(error.message));
      this.#process.on("exit", (code) => fail(`it ended with ${code}`));
    });
  }
}
