import type { Logger } from "../logger.js";
import { importsOf, WasmExports } from "./bindings.js";
import { base64 } from "./wasm.js";

let compiled: Promise<WebAssembly.Module> | undefined;

/**
 * Creates an instance of the engine. The module is compiled once, off the main thread where the platform supports that.
 * Without wasm, or where a policy blocks it, the instance is plain JavaScript.
 */
export async function instantiate(logger: Logger): Promise<WasmExports> {
  try {
    compiled ??= compile();
    const module = await compiled;
    const instance = await WebAssembly.instantiate(module, importsOf(module));
    return new WasmExports(instance.exports);
  } catch (cause) {
    logger.info(
      "WebAssembly is missing or blocked, so the engine runs in plain JavaScript, which is slower",
      cause,
    );
    const { fallback } = await import("./fallback.js");
    return new WasmExports(fallback());
  }
}

async function compile(): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await inflate(base64));
}

function inflate(text: string): Promise<ArrayBuffer> {
  const deflated = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const inflated = new Blob([deflated])
    .stream()
    .pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(inflated).arrayBuffer();
}
