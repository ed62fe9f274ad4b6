import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { environment } from "./run.ts";

/** A server process that runs until it is disposed of. */
export class Child {
  readonly url: string;
  readonly #process: ChildProcess;

  private constructor(url: string, process: ChildProcess) {
    this.url = url;
    this.#process = process;
  }

  /** Starts a server, and waits until it prints the port on which it listens: the first group of `port`. */
  static start(
    program: string,
    arguments_: readonly string[],
    port: RegExp,
    options: SpawnOptions,
  ): Promise<Child> {
    const child = spawn(program, arguments_, {
      ...options,
      env: { ...environment(), ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
      // The process leads its own group, so that any processes that it starts end with it.
      detached: true,
    });
    return new Promise((resolve, reject) => {
      let output = "";
      const onOutput = (text: string) => {
        output += text;
        const found = port.exec(output)?.[1];
        if (found !== undefined) {
          clearTimeout(timeout);
          resolve(new Child(`http://127.0.0.1:${found}`, child));
        }
      };
      for (const stream of [child.stdout, child.stderr] as readonly (Readable | null)[]) {
        stream?.setEncoding("utf8").on("data", onOutput);
      }
      const fail = (why: string) => {
        end(child);
        reject(new Error(`${program} ${why}\n${output}`));
      };
      const timeout = setTimeout(
        () => fail("did not print its address within 180 s"),
        180_000,
      ).unref();
      child.on("error", reject);
      child.on("exit", (code) => {
        clearTimeout(timeout);
        fail(`ended with ${code}`);
      });
    });
  }

  /** Sends SIGTERM to the server, waits until it ends, and returns its exit status. */
  async terminate(): Promise<number | null> {
    const ended = once(this.#process, "close");
    this.#process.kill("SIGTERM");
    const [status] = await ended;
    return status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = once(this.#process, "close");
      end(this.#process);
      await ended;
    }
  }
}

/** Kills a program and all processes that it has started. */
function end({ pid }: ChildProcess): void {
  try {
    process.kill(-(pid ?? Number.NaN), "SIGKILL");
  } catch {
    // The program has already ended.
  }
}
