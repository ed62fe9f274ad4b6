import { onTestFinished, vi } from "vitest";

/** Keeps engines from starting until the returned function is called. */
export function holdEngines(): () => void {
  const instantiate = WebAssembly.instantiate.bind(WebAssembly);
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const held = async (module: WebAssembly.Module, imports: WebAssembly.Imports) => {
    await released;
    return instantiate(module, imports);
  };
  const spy = vi.spyOn(WebAssembly, "instantiate").mockImplementation(held as never);
  onTestFinished(() => spy.mockRestore());
  return release;
}
