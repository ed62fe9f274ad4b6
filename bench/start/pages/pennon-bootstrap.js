import { FeatureFlagsClient } from "@pennon/core";
import { answer, FLAG, sdkKey, service } from "./page.js";

const bootstrap = JSON.parse(document.querySelector("#bootstrap").textContent);
const client = new FeatureFlagsClient({ sdkKey, baseUrl: service, bootstrap });
client.initialize();
answer(client.evaluate(FLAG, bootstrap.subject.context).enabled);
