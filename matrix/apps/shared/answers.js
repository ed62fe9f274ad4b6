/**
 * Returns the client's answers to the server's questions, and the engine that it used. Every application ends here.
 * The applications differ in how they load the package.
 */
export async function answers(
  { FeatureFlagsClient, fetchTransport },
  baseUrl,
  transport = fetchTransport,
) {
  const entered = countInstances();
  const given = [];
  let remote;
  for (const { sdkKey, cases } of await questions(baseUrl, transport)) {
    const client = new FeatureFlagsClient({
      sdkKey,
      baseUrl,
      transport,
      pollIntervalMs: 0,
    });
    await client.initialize();
    const said = [];
    for (const { key, context } of cases) {
      said.push((await client.read(key, context)) ?? null);
    }
    given.push(said);
    // Code that few applications use is in a separate file, which must be found too.
    remote ??= await client.evaluateRemote(cases[0].key, cases[0].context);
    await client.shutdown();
  }
  return { engine: entered() > 0 ? "wasm" : "plain JavaScript", given, remote };
}

async function questions(baseUrl, transport) {
  const { signal } = new AbortController();
  const url = `${baseUrl}/questions`;
  const { body } = await transport.send({ method: "GET", url, headers: {}, signal });
  return JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body));
}

/**
 * Counts the wasm engines that are created from now on. Other code creates wasm instances too: Node.js has one for
 * HTTP.
 */
function countInstances() {
  let count = 0;
  const { instantiate } = globalThis.WebAssembly ?? {};
  if (instantiate !== undefined) {
    WebAssembly.instantiate = async (...module) => {
      const instance = await instantiate(...module);
      count += "evaluate" in (instance.exports ?? {}) ? 1 : 0;
      return instance;
    };
  }
  return () => count;
}
