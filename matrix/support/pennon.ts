import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Child } from "./child.ts";

const binary =
  process.env.PENNON_BINARY ?? fileURLToPath(new URL("../../target/debug/pennon", import.meta.url));

/** The keys that the server accepts from its start. */
interface Keys {
  readonly sdkKey: string;
  readonly token: string;
}

/** The real server with its own database, in which the flag `pay_by_invoice` is on. */
export class Pennon {
  readonly url: string;
  readonly sdkKey: string;
  readonly token: string;
  readonly #child: Child;
  readonly #folder: string;

  private constructor(child: Child, keys: Keys, folder: string) {
    this.url = child.url;
    this.sdkKey = keys.sdkKey;
    this.token = keys.token;
    this.#child = child;
    this.#folder = folder;
  }

  static async start(): Promise<Pennon> {
    const folder = await mkdtemp(join(tmpdir(), "pennon-"));
    const keys = { sdkKey: secret("pnk"), token: secret("pnt") };
    const file = join(folder, "bootstrap.json");
    await writeFile(file, JSON.stringify(bootstrap(keys)));
    const child = await Child.start(binary, [], /ready: http:\/\/127\.0\.0\.1:(\d+)/, {
      cwd: folder,
      env: {
        PENNON_LISTEN: "127.0.0.1:0",
        PENNON_BOOTSTRAP_FILE: file,
        DATABASE_URL: `sqlite://${join(folder, "pennon.db")}`,
      },
    });
    return new Pennon(child, keys, folder);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Returns the content of the bootstrap file. */
function bootstrap({ sdkKey, token }: Keys) {
  const names = { product: "Web shop", environment: "production" };
  const settings = { isEnabled: true, ttlOverrideSeconds: null, rules: [], rollout: null };
  return {
    formatVersion: 1,
    environments: [{ product: "Web shop", name: "production", sdkKey }],
    personalAccessToken: { name: "npm", role: "viewer", token },
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

/** Returns a random key of full length. */
function secret(prefix: string): string {
  return `${prefix}_${randomBytes(32).toString("base64url")}`;
}
