import { GrowthBook } from "@growthbook/growthbook";
import { answer, FLAG, sdkKey, service, USER } from "./page.js";

const { key: id, country, plan } = USER;
const attributes = { id, country, plan };
const client = new GrowthBook({ apiHost: service, clientKey: sdkKey, attributes });
await client.init();
answer(client.isOn(FLAG));
