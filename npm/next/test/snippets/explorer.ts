import { getProviderData as getPennonData } from "@pennon/next/flags";
import { mergeProviderData } from "flags";
import { createFlagsDiscoveryEndpoint, getProviderData } from "flags/next";
import * as flags from "@/vercel-flags";

export const GET = createFlagsDiscoveryEndpoint(() =>
  mergeProviderData([getProviderData(flags), getPennonData()]),
);
