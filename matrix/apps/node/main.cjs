const pennon = require("@pennon/core");

import("./evaluate-vectors.js")
  .then(({ evaluateVectors }) => evaluateVectors(pennon, process.argv[2]))
  .then((output) => console.log(JSON.stringify(output)));
