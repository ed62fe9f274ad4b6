import { UnleashClient } from "unleash-proxy-client";
import { answer, FLAG, sdkKey, service, USER } from "./page.js";

const { key: userId, ...properties } = USER;
const client = new UnleashClient({
  url: `${service}/api/frontend`,
  clientKey: sdkKey,
  appName: "first-answer",
  context: { userId, properties },
});
await client.start();
answer(client.isEnabled(FLAG));
