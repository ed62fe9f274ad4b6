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
  const { process } = globalThis as Builtins;
  const zlib = process?.getBuiltinModule?.("node:zlib");
  const buffer = process?.getBuiltinModule?.("node:buffer");
  if (zlib !== undefined && buffer !== undefined) {
    // Loading the streams below would take most of the time of a start.
    return WebAssembly.compile(zlib.inflateRawSync(buffer.Buffer.from(base64, "base64")));
  }
  // Browsers compile the bytes as they are inflated, in a third of the time of one after the other.
  const { readable, writable } = new DecompressionStream("deflate-raw");
  const writer = writable.getWriter();
  const written = Promise.all([writer.write(decoded(base64)), writer.close()]);
  const headers = { "Content-Type": "application/wasm" };
  const compiled = WebAssembly.compileStreaming(new Response(readable, { headers }));
  const [module] = await Promise.all([compiled, written]);
  return module;
}

/** The part of Node.js, Deno and Bun that decodes base64 and inflates. */
interface Builtins {
  readonly process?: {
    getBuiltinModule?(
      name: "node:buffer",
    ): { readonly Buffer: { from(text: string, encoding: "base64"): Uint8Array } } | undefined;
    getBuiltinModule?(
      name: "node:zlib",
    ): { inflateRawSync(bytes: Uint8Array): Uint8Array<ArrayBuffer> } | undefined;
  };
}

/** The decoder of newer browsers. */
interface Base64Decoder {
  fromBase64?(text: string): Uint8Array<ArrayBuffer>;
}

function decoded(text: string): Uint8Array<ArrayBuffer> {
  const decoder = Uint8Array as typeof Uint8Array & Base64Decoder;
  if (decoder.fromBase64 !== undefined) {
    return decoder.fromBase64(text);
  }
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) {
    bytes[index] = binary.charCodeAt(index);
  }
  return bytes;
}
