const { pennonAdapter } = require("@pennon/next/flags");
const { flag } = require("flags/next");

exports.banner = flag({ key: "banner", adapter: pennonAdapter });
