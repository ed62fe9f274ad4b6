require("./expectations.js");
