import { FeatureFlagsClient } from "@pennon/core";
// This import throws unless it finds the core in the same version.
import { useFlag } from "@pennon/react";

const [url, sdkKey] = process.argv.slice(2);
const client = new FeatureFlagsClient({ baseUrl: url, sdkKey });
await client.initialize();
console.log(client.isEnabled("pay_by_invoice"), typeof useFlag);
await client.shutdown();
