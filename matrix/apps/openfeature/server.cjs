const openfeature = require("@openfeature/server-sdk");
const { fetchTransport } = require("@pennon/core");
const { PennonServerProvider } = require("@pennon/openfeature/server");

Promise.all([import("./evaluate-vectors.js"), import("./provided.js")])
  .then(([{ evaluateVectors }, { onServer, provided }]) => {
    const FeatureFlagsClient = provided(openfeature, PennonServerProvider, onServer);
    return evaluateVectors({ FeatureFlagsClient, fetchTransport }, process.argv[2]);
  })
  .then((output) => console.log(JSON.stringify(output)));
