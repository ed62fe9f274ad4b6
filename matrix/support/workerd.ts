import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Child } from "./child.ts";
import { tool } from "./tool.ts";

/** Runs a folder's `worker.js` and `engine.wasm` as Cloudflare would. The worker uses this Pennon server. */
export async function startWorkerd(
  folder: string,
  baseUrl: string,
  compatibilityDate = "2026-11-01",
): Promise<Child> {
  const configuration = join(folder, "config.capnp");
  await writeFile(
    configuration,
    `
    using Workerd = import "/workerd/workerd.capnp";

    const config :Workerd.Config = (
      services = [
        (name = "worker", worker = .worker),
        (name = "internet", network = (allow = ["private", "public"])),
      ],
      sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "worker")],
    );

    const worker :Workerd.Worker = (
      modules = [
        (name = "worker.js", esModule = embed "worker.js"),
        (name = "engine.wasm", wasm = embed "engine.wasm"),
      ],
      bindings = [(name = "PENNON_URL", text = "${baseUrl}")],
      compatibilityDate = "${compatibilityDate}",
    );
    `,
  );
  const listening = /"port":\s*(\d+)/;
  const options = ["serve", "--control-fd=1", configuration];
  return Child.start(tool("workerd"), options, listening, { cwd: folder });
}
