/**
 * Evaluates the cases of the vectors, and returns the results and the engine that the client used. Every application
 * ends here. The applications differ in how they load the package.
 */
export async function evaluateVectors(
  { FeatureFlagsClient, fetchTransport },
  baseUrl,
  transport = fetchTransport,
) {
  const entered = countInstances();
  const results = [];
  let remote;
  for (const { sdkKey, cases } of await fetchCases(baseUrl, transport)) {
    const client = new FeatureFlagsClient({
      sdkKey,
      baseUrl,
      transport,
      pollIntervalMs: 0,
    });
    await client.initialize();
    const evaluations = [];
    for (const { key, context } of cases) {
      evaluations.push((await client.read(key, context)) ?? null);
    }
    results.push(evaluations);
    // Code that few applications use is in a separate file, which must be found too.
    remote ??= await client.evaluateRemote(cases[0].key, cases[0].context);
    await client.shutdown();
  }
  return { engine: entered() > 0 ? "wasm" : "plain JavaScript", results, remote };
}

async function fetchCases(baseUrl, transport) {
  const { signal } = new AbortController();
  const url = `${baseUrl}/cases`;
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
