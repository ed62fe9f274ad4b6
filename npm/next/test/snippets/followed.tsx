import { FeatureFlagsProvider } from "@pennon/next/client";
import type { Snapshot } from "@pennon/next/server";
import type { ReactNode } from "react";

export function Followed({ snapshot, children }: { snapshot: Snapshot; children: ReactNode }) {
  return (
    <FeatureFlagsProvider bootstrap={snapshot} stream="/flags">
      {children}
    </FeatureFlagsProvider>
  );
}
