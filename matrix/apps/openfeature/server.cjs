const openfeature = require("@openfeature/server-sdk");
const { fetchTransport } = require("@pennon/core");
const { PennonServerProvider } = require("@pennon/openfeature/server");

Promise.all([import("./answers.js"), import("./provided.js")])
  .then(([{ answers }, { onServer, provided }]) => {
    const FeatureFlagsClient = provided(openfeature, PennonServerProvider, onServer);
    return answers({ FeatureFlagsClient, fetchTransport }, process.argv[2]);
  })
  .then((said) => console.log(JSON.stringify(said)));
