"use client";

import { FeatureFlagsProvider } from "@pennon/next/client";

export function Live({ snapshot, baseUrl, children }) {
  const options = { sdkKey: process.env.NEXT_PUBLIC_PENNON_SDK_KEY, baseUrl };
  return (
    <FeatureFlagsProvider bootstrap={snapshot} options={options}>
      {children}
    </FeatureFlagsProvider>
  );
}
