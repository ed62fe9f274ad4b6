import { version } from "react";
import { version as reactDom } from "react-dom";
import { renderToString } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { describeOtherCore } from "../../test-kit/other-core.ts";

describeOtherCore(async () => {
  const { FeatureFlagsProvider } = await import("@pennon/react");
  renderToString(<FeatureFlagsProvider options={{ sdkKey: "pnk_test" }} />);
});

describe("React", () => {
  it("has the version that these tests require, in both packages", () => {
    expect([version, reactDom].map((text) => text.split(".")[0])).toEqual([
      process.env.REACT,
      process.env.REACT,
    ]);
  });
});
