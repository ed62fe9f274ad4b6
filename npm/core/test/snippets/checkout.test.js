import { expect, it } from "vitest";
import { checkoutTitle } from "./checkout.js";
import { clientWith } from "./client-with.js";

it("offers the new checkout", () => {
  const client = clientWith("new_checkout");
  expect(checkoutTitle(client.withContext({ userId: "ada" }))).toBe("Buy now");
});
