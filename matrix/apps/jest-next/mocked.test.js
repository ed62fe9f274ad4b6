jest.mock("@pennon/next/server", () => require("@pennon/next/testing"));
jest.mock("@pennon/next/flags", () => require("@pennon/next/testing/flags"));

require("./expectations.js");
