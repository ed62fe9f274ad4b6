import { mockFeatureFlags } from "@pennon/next/testing";
import { renderToString } from "react-dom/server";
import { expect, test } from "vitest";
import { banner } from "./declared.js";
import Page from "./page.jsx";

const shown = async (user) => renderToString(await Page({ user })).replaceAll("<!-- -->", "");

test("a server component has the flags of the test, and so have client components", async () => {
  expect(await shown("ada")).toBe("no banner, old");
  mockFeatureFlags({ banner: true, new_checkout: true });
  expect(await shown("ada")).toBe("banner, new");
});

test("the flags may differ by context", async () => {
  mockFeatureFlags(({ userId }) => ({ new_checkout: userId === "ada" }));
  expect([await shown("ada"), await shown("bob")]).toEqual(["no banner, new", "no banner, old"]);
});

test("a flag of the Flags SDK is that of the test", async () => {
  mockFeatureFlags({ banner: true });
  expect(await banner(new Request("http://shop.test"))).toBe(true);
});
