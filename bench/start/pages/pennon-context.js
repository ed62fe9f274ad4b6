import { FeatureFlagsClient } from "@pennon/core";
import { answer, FLAG, sdkKey, service, USER } from "./page.js";

const { key: userId, country, plan } = USER;
const context = { userId, country, customAttributes: { plan } };
const client = new FeatureFlagsClient({ sdkKey, baseUrl: service, bootstrapContext: context });
await client.initialize();
answer(client.evaluate(FLAG, context).enabled);
