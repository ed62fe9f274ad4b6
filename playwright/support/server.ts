import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const binary =
  process.env.PENNON_BINARY ?? fileURLToPath(new URL("../../target/debug/pennon", import.meta.url));

const patience = 20_000;

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
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
      });
    }
    this.#process.on("error", (error) => {
      this.#output += `${binary}: ${error.message}`;
    });
  }

  /** Starts it and waits until it answers. */
  static async start(): Promise<Server> {
    const folder = await mkdtemp(join(tmpdir(), "pennon-"));
    const server = new Server(folder, await freePort());
    const deadline = Date.now() + patience;
    while (!(await server.#answers())) {
      if (server.#ended || Date.now() > deadline) {
        await server.stop();
        throw new Error(`The server did not start:\n${server.#output}`);
      }
      await wait(20);
    }
    return server;
  }

  async stop(): Promise<void> {
    if (!this.#ended) {
      const ended = once(this.#process, "exit");
      this.#process.kill();
      await ended;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #ended(): boolean {
    const { pid, exitCode, signalCode } = this.#process;
    return pid === undefined || exitCode !== null || signalCode !== null;
  }

  async #answers(): Promise<boolean> {
    return fetch(new URL("/health", this.url)).then(
      (answer) => answer.ok,
      () => false,
    );
  }
}

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  listener.close();
  if (address === null || typeof address === "string") {
    throw new Error("no port is free");
  }
  return address.port;
}
