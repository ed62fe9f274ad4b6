const common = require("@nestjs/common");
const core = require("@nestjs/core");
const { fetchTransport } = require("@pennon/core");
const pennon = require("@pennon/nest");

Promise.all([import("./evaluate-vectors.js"), import("./served.js")])
  .then(([{ evaluateVectors }, { served }]) => {
    const FeatureFlagsClient = served(common, core, pennon);
    return evaluateVectors({ FeatureFlagsClient, fetchTransport }, process.argv[2]);
  })
  .then((output) => console.log(JSON.stringify(output)));
