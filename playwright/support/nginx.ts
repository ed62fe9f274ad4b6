import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freePort } from "./port.ts";
import { Server } from "./server.ts";
import { test as base, expect } from "./test.ts";

const site = fileURLToPath(new URL("../../deploy/nginx.conf", import.meta.url));

/** The folders that may contain nginx. Not all of them are on every user's search path. */
const folders = [...(process.env.PATH ?? "").split(":"), "/usr/sbin", "/usr/local/sbin"];

/** The path of nginx, or `undefined` if it is not installed. */
const program = folders.map((folder) => join(folder, "nginx")).find(existsSync);

/** The ports of a proxy. They must be known before the proxy starts, because Pennon is configured with them. */
type Ports = { readonly https: number; readonly http: number };

async function freePorts(): Promise<Ports> {
  const [https, http] = await Promise.all([freePort(), freePort()]);
  return { https, http };
}

const url = ({ https }: Ports) => `https://127.0.0.1:${https}`;

type Fixtures = {
  ports: Ports;
  /** nginx in front of the test's server. */
  nginx: Nginx;
};

/** Tests of a server that is reached only through nginx. The server's public URL is that of nginx. */
export const test = base.extend<Fixtures>({
  ignoreHTTPSErrors: true,
  ports: async ({}, use) => use(await freePorts()),
  server: async ({ ports }, use, { parallelIndex }) => {
    const server = await Server.create(parallelIndex, {
      PENNON_PUBLIC_URL: url(ports),
      PENNON_TRUSTED_PROXIES: "127.0.0.1",
    });
    await use(server);
    await server.dispose();
    expect(server.panics).toEqual([]);
  },
  nginx: async ({ ports, server }, use) => {
    const nginx = await Nginx.start(ports, server.url);
    await use(nginx);
    await nginx.stop();
  },
  // The page depends on this fixture and so is closed before nginx stops. A page that is still open would fail to load.
  baseURL: async ({ ports, nginx: _ }, use) => use(url(ports)),
});

// `cargo xtask playwright` reports it if nginx is missing.
test.skip(program === undefined, "nginx is not installed");

/** A running nginx with the site in `deploy/nginx.conf`, on local ports and with its own certificate. */
export class Nginx {
  /** The certificate, in PEM format. */
  readonly certificate: string;
  readonly #folder: string;
  readonly #process: ChildProcess;

  private constructor(folder: string, certificate: string, process: ChildProcess) {
    this.#folder = folder;
    this.certificate = certificate;
    this.#process = process;
  }

  static async start(ports: Ports, upstream: string): Promise<Nginx> {
    const folder = await mkdtemp(join(tmpdir(), "pennon-nginx-"));
    await makeCertificate(folder);
    const rendered = render(await readFile(site, "utf8"), folder, ports, new URL(upstream).host);
    await writeFile(join(folder, "nginx.conf"), rendered);
    const child = spawn(program ?? "nginx", ["-p", folder, "-c", "nginx.conf", "-e", "stderr"], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    const certificate = await readFile(join(folder, "cert.pem"), "utf8");
    const started = new Nginx(folder, certificate, child);
    try {
      await accepts(ports.https, child);
    } catch (error) {
      await started.stop();
      throw error;
    }
    return started;
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = once(this.#process, "close");
      this.#process.kill("SIGTERM");
      await ended;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Replaces the values that an operator also replaces, and adds the settings of nginx's main configuration file. */
function render(text: string, folder: string, { https, http }: Ports, upstream: string): string {
  const replaced = [
    ["server 127.0.0.1:3000 ", `server ${upstream} `],
    ["listen 80;", `listen 127.0.0.1:${http};`],
    ["listen [::]:80;", ""],
    ["listen 443 ssl", `listen 127.0.0.1:${https} ssl`],
    [/listen \[::\]:443 ssl[^;]*;/, ""],
    [/server_name flags\.example\.com;/g, "server_name 127.0.0.1;"],
    [/ssl_certificate [^;]*;/, "ssl_certificate cert.pem;"],
    [/ssl_certificate_key [^;]*;/, "ssl_certificate_key key.pem;"],
  ] as const;
  let server = text;
  for (const [old, by] of replaced) {
    const changed = server.replace(old, by);
    if (changed === server) {
      throw new Error(`deploy/nginx.conf has no ${old}`);
    }
    server = changed;
  }
  const user = process.getuid?.() === 0 ? "user root;" : "";
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return `
    daemon off;
    ${user}
    pid ${folder}/nginx.pid;
    events { worker_connections 4096; }
    http {
      access_log off;
      ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join("\n")}
      ${server}
    }`;
}

async function makeCertificate(folder: string): Promise<void> {
  const name = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const files = ["-keyout", join(folder, "key.pem"), "-out", join(folder, "cert.pem")];
  await promisify(execFile)("openssl", [
    ...["req", "-x509", "-days", "2"],
    ...[...name, ...key, ...files],
  ]);
}

async function accepts(port: number, child: ChildProcess): Promise<void> {
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    try {
      await once(socket, "connect");
      return;
    } catch {
      if (child.exitCode !== null) {
        throw new Error("nginx does not start");
      }
      await pause(25);
    } finally {
      socket.destroy();
    }
  }
}
