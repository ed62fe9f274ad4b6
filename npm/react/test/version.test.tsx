import { version } from "react";
import { version as reactDom } from "react-dom";
import { renderToString } from "react-dom/server";
import { describe, expect, it, onTestFinished, vi } from "vitest";

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
    const { FeatureFlagsProvider } = await import("@pennon/react");
    expect(() => renderToString(<FeatureFlagsProvider options={{ sdkKey: "pnk_test" }} />)).toThrow(
      /found 9\.9\.9\. Install the same version of both/,
    );
  });
});

describe("React", () => {
  it("has the version that these tests require, in both packages", () => {
    expect([version, reactDom].map((text) => text.split(".")[0])).toEqual([
      process.env.REACT,
      process.env.REACT,
    ]);
  });
});
