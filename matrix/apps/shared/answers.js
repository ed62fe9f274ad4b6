/**
 * What the client of a package says to the questions of the service, and by which engine. Every application ends here; they
 * differ in how they come by the package.
 */
export async function answers(
  { FeatureFlagsClient, fetchTransport },
  service,
  transport = fetchTransport,
) {
  const entered = countInstances();
  const given = [];
  let remote;
  for (const { sdkKey, cases } of await questions(service, transport)) {
    const client = new FeatureFlagsClient({
      sdkKey,
      baseUrl: service,
      transport,
      pollIntervalMs: 0,
    });
    await client.initialize();
    const said = [];
    for (const { key, context } of cases) {
      said.push((await client.read(key, context)) ?? null);
    }
    given.push(said);
    // What few applications use is in a file of its own, which must be found too.
    remote ??= await client.evaluateRemote(cases[0].key, cases[0].context);
    await client.shutdown();
  }
  return { engine: entered() > 0 ? "wasm" : "plain JavaScript", given, remote };
}

async function questions(service, transport) {
  const { signal } = new AbortController();
  const url = `${service}/questions`;
  const { body } = await transport.send({ method: "GET", url, headers: {}, signal });
  return JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body));
}

/** Counts from now on how often an engine of wasm is made. Others make instances too: Node.js has one for HTTP. */
function countInstances() {
  let count = 0;
  const { instantiate } = globalThis.WebAssembly ?? {};
  if (instantiate !== undefined) {
    WebAssembly.instantiate = async (...module) => {
      const instance = await instantiate(...module);
      count += "engine_evaluate" in (instance.exports ?? {}) ? 1 : 0;
      return instance;
    };
  }
  return () => count;
}
