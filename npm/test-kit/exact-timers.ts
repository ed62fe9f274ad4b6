import { afterEach, beforeEach, vi } from "vitest";

/** Runs the tests of a file or a group on a fake clock, and makes all delays exact. */
export function exactTimers(): void {
  beforeEach(() => {
    vi.useFakeTimers();
    // Clients shorten delays at random. The largest random number shortens them by nothing.
    vi.spyOn(Math, "random").mockReturnValue(1 - 2 ** -32);
  });

  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });
}
