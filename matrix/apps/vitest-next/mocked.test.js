import { vi } from "vitest";
import "./expectations.js";

vi.mock("@pennon/next/server", () => import("@pennon/next/testing"));
vi.mock("@pennon/next/flags", () => import("@pennon/next/testing/flags"));
