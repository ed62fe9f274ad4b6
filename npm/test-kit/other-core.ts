import { describe, expect, it, onTestFinished, vi } from "vitest";

/** Tests that a package rejects a core of another version. `use` imports the package and starts a client with it. */
export function describeOtherCore(use: () => Promise<unknown>): void {
  describe("a core of another version", () => {
    it("is rejected with a message that says what to do", async () => {
      vi.resetModules();
      vi.doMock("@pennon/core", async (original) => ({
        ...(await original<typeof import("@pennon/core")>()),
        VERSION: "9.9.9",
      }));
      onTestFinished(() => {
        vi.doUnmock("@pennon/core");
        vi.resetModules();
      });
      await expect(use()).rejects.toThrow(/found 9\.9\.9\. Install the same version of both/);
    });
  });
}
