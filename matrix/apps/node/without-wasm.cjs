const pennon = require("@pennon/core/without-wasm");

import("./evaluate-vectors.js")
  .then(({ evaluateVectors }) => evaluateVectors(pennon, process.argv[2]))
  .then((output) => console.log(JSON.stringify(output)));
