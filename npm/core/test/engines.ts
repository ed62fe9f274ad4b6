import { FeatureFlagsClient } from "@pennon/core";
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

/** Lets the code of the next engines fail to load, each with one of these errors. Returns the spy of all attempts. */
export function failToLoad(...errors: readonly Error[]) {
  // The package's types do not show it.
  const loader = FeatureFlagsClient as unknown as { loadEngine(): Promise<unknown> };
  const spy = vi.spyOn(loader, "loadEngine");
  for (const error of errors) {
    spy.mockRejectedValueOnce(error);
  }
  onTestFinished(() => spy.mockRestore());
  return spy;
}
