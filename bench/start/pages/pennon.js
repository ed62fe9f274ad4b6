import { FeatureFlagsClient } from "@pennon/core";
import { answer, FLAG, sdkKey, service, USER } from "./page.js";

const client = new FeatureFlagsClient({ sdkKey, baseUrl: service });
await client.initialize();
const { key: userId, country, plan } = USER;
const context = { userId, country, customAttributes: { plan } };
answer(client.evaluate(FLAG, context).enabled);
