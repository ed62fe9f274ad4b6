import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Child } from "./child.ts";

const binary =
  process.env.PENNON_BINARY ?? fileURLToPath(new URL("../../target/debug/pennon", import.meta.url));

/** A port below the ephemeral ones that differs between processes. */
const port = 19_000 + (process.pid % 1000);

/** The real server with its own database, in which the flag `pay_by_invoice` is on. */
export class Pennon {
  readonly url = `http://127.0.0.1:${port}`;
  readonly sdkKey = secret("pnk");
  readonly token = secret("pnt");
  readonly #folder: string;
  #child: Child | undefined;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async start(): Promise<Pennon> {
    const pennon = new Pennon(await mkdtemp(join(tmpdir(), "pennon-")));
    await pennon.#start();
    return pennon;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child?.[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #start(): Promise<void> {
    const bootstrap = join(this.#folder, "bootstrap.json");
    await writeFile(bootstrap, JSON.stringify(this.#bootstrap()));
    this.#child = await Child.start(binary, [], /ready: http:\/\/127\.0\.0\.1:(\d+)/, {
      cwd: this.#folder,
      env: {
        PENNON_LISTEN: `127.0.0.1:${port}`,
        PENNON_BOOTSTRAP_FILE: bootstrap,
        DATABASE_URL: `sqlite://${join(this.#folder, "pennon.db")}`,
      },
    });
  }

  #bootstrap() {
    const names = { product: "Web shop", environment: "production" };
    const settings = { isEnabled: true, ttlOverrideSeconds: null, rules: [], rollout: null };
    return {
      formatVersion: 1,
      environments: [{ product: "Web shop", name: "production", sdkKey: this.sdkKey }],
      personalAccessToken: { name: "npm", role: "viewer", token: this.token },
      flags: [
        {
          key: "pay_by_invoice",
          name: "Pay by invoice",
          type: "boolean",
          environments: [{ ...names, ...settings }],
        },
      ],
    };
  }
}

/** Returns a random key of full length. */
function secret(prefix: string): string {
  return `${prefix}_${randomBytes(32).toString("base64url")}`;
}
