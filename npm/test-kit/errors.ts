import type { ErrorCode } from "@pennon/core";
import { expect } from "vitest";

/** Matches an error of a client that has this code. */
export function errorWith(code: ErrorCode) {
  return expect.objectContaining({ name: "FeatureFlagsError", code });
}
