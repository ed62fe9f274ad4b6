import type { FlagKey } from "@pennon/core";
import type { ReactNode } from "react";
import { useFlag } from "./hooks.js";

export interface FeatureProps {
  readonly flag: FlagKey;
  /** The content while the flag is off; nothing by default. */
  readonly fallback?: ReactNode;
  /** The content while the flag is on. */
  readonly children?: ReactNode;
}

/** Shows its children while the flag is on, and `fallback` while it is off. */
export function Feature({ flag, fallback, children }: FeatureProps): ReactNode {
  return useFlag(flag) ? children : fallback;
}
