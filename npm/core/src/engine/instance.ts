import { base64, glue } from "./wasm.js";

export type Glue = ReturnType<typeof glue>;
export type Engine = InstanceType<Glue["Engine"]>;
export type Machine = InstanceType<Glue["Machine"]>;

/** One instance of the wasm module: its classes, and the memory that they live in. */
export interface Instance extends Glue {
  readonly memory: WebAssembly.Memory;
}

let compiled: Promise<WebAssembly.Module> | undefined;

/** A new instance. The module is compiled once, and not on the caller's time where the platform can help it. */
export async function instantiate(): Promise<Instance> {
  compiled ??= inflate(base64).then((bytes) => WebAssembly.compile(bytes));
  const module = await compiled.catch((error) => {
    compiled = undefined;
    throw error;
  });
  const classes = glue();
  const { memory } = classes.initSync({ module });
  return { ...classes, memory };
}

function inflate(text: string): Promise<ArrayBuffer> {
  const deflated = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const inflated = new Blob([deflated])
    .stream()
    .pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(inflated).arrayBuffer();
}
