const common = require("@nestjs/common");
const core = require("@nestjs/core");
const { fetchTransport } = require("@pennon/core");
const pennon = require("@pennon/nest");

Promise.all([import("./answers.js"), import("./served.js")])
  .then(([{ answers }, { served }]) => {
    const FeatureFlagsClient = served(common, core, pennon);
    return answers({ FeatureFlagsClient, fetchTransport }, process.argv[2]);
  })
  .then((said) => console.log(JSON.stringify(said)));
