import { mockFeatureFlags } from "@pennon/next/testing";
import { renderToString } from "react-dom/server";
import { expect, it, vi } from "vitest";
import Page from "./page";

vi.mock("@pennon/next/server", () => import("@pennon/next/testing"));
vi.mock("next/headers", () => ({
  cookies: async () => new Map([["user", { value: "ada" }]]),
}));

it("offers the new checkout", async () => {
  mockFeatureFlags({ new_checkout: true, banner: false });
  expect(renderToString(await Page())).toContain("Buy now");
});

it("offers it to Ada only", async () => {
  mockFeatureFlags(({ userId }) => ({ new_checkout: userId === "ada" }));
  expect(renderToString(await Page())).toContain("Buy now");
});
