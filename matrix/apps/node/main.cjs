const pennon = require("@pennon/core");

import("./answers.js")
  .then(({ answers }) => answers(pennon, process.argv[2]))
  .then((said) => console.log(JSON.stringify(said)));
