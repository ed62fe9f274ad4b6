import { mockFeatureFlags } from "@pennon/next/testing";
import { NextRequest } from "next/server";
import { expect, it, vi } from "vitest";
import { GET } from "./route";

vi.mock("@pennon/next/server", () => import("@pennon/next/testing"));

it("shows the banner", async () => {
  mockFeatureFlags({ banner: true });
  const response = await GET(new NextRequest("http://shop.test/banner"));
  expect(await response.json()).toEqual({ banner: true });
});

it("shows the banner to Ada only", async () => {
  mockFeatureFlags(({ userId }) => ({ banner: userId === "ada" }));
  const response = await GET(new NextRequest("http://shop.test/banner"));
  expect(await response.json()).toEqual({ banner: false });
});
