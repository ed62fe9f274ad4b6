import { useFlagDetails, useFlags, useFlagsStatus, useSuspenseFlag } from "@pennon/react";
import { MockFeatureFlagsProvider } from "@pennon/react/testing";
import { renderToString } from "react-dom/server";
import { describe, expect, it, vi } from "vitest";
import { Flag, render } from "./support.tsx";

function Everything() {
  return (
    <>
      <Flag name="on" />
      <Flag name="unknown" fallback={true} />
      {JSON.stringify([
        useFlags(),
        useFlagDetails("off"),
        useFlagsStatus().ready,
        useSuspenseFlag("unknown"),
      ])}
    </>
  );
}

const everything =
  'on is on.unknown is on.[{"on":true,"off":false},{"value":false,"reason":"flag_disabled","loading":false},true,false]';

describe("MockFeatureFlagsProvider", () => {
  it("provides the flags at once, and sends no request", async () => {
    const sent = vi.spyOn(globalThis, "fetch");
    const page = await render(
      <MockFeatureFlagsProvider flags={{ on: true, off: false }}>
        <Everything />
      </MockFeatureFlagsProvider>,
    );
    expect(page.text()).toBe(everything);
    expect(sent).not.toHaveBeenCalled();
    sent.mockRestore();
  });

  it("follows its prop", async () => {
    const show = (on: boolean) => (
      <MockFeatureFlagsProvider flags={{ on }}>
        <Flag name="on" />
      </MockFeatureFlagsProvider>
    );
    const page = await render(show(true));
    await page.rerender(show(false));
    expect(page.text()).toBe("on is off.");
  });

  it("provides them on a server too, and has none by default", () => {
    const html = renderToString(
      <MockFeatureFlagsProvider>
        <Flag name="on" />
      </MockFeatureFlagsProvider>,
    );
    expect(html).toBe("<i>on is off.</i>");
  });
});
