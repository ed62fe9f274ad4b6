"use client";

import { FeatureFlagsProvider } from "@pennon/next/client";
import type { Snapshot } from "@pennon/next/server";
import type { ReactNode } from "react";

const options = {
  sdkKey: process.env.NEXT_PUBLIC_PENNON_SDK_KEY ?? "",
  baseUrl: "https://flags.example.com",
  streaming: true,
};

export function Live({ snapshot, children }: { snapshot: Snapshot; children: ReactNode }) {
  return (
    <FeatureFlagsProvider bootstrap={snapshot} options={options}>
      {children}
    </FeatureFlagsProvider>
  );
}
