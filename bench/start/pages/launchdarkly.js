import { createClient } from "@launchdarkly/js-client-sdk";
import { answer, FLAG, sdkKey, service, USER } from "./page.js";

const options = { baseUri: service, streamUri: service, eventsUri: service };
const client = createClient(sdkKey, { kind: "user", ...USER }, options);
await client.start();
answer(client.variation(FLAG, false));
