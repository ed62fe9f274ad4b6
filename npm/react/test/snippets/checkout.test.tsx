import { MockFeatureFlagsProvider } from "@pennon/react/testing";
import { renderToString } from "react-dom/server";
import { expect, it } from "vitest";
import { Checkout } from "./checkout.tsx";

it("offers the new checkout", () => {
  const html = renderToString(
    <MockFeatureFlagsProvider flags={{ new_checkout: true }}>
      <Checkout />
    </MockFeatureFlagsProvider>,
  );
  expect(html).toContain("Buy now");
});
