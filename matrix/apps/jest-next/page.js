const { FeatureFlagsProvider, useFlag } = require("@pennon/next/client");
const { getFeatureFlags } = require("@pennon/next/server");
const { createElement } = require("react");

/** A page in the form to which Next.js compiles it. */
exports.Page = async ({ user }) => {
  const flags = await getFeatureFlags({ userId: user });
  const banner = flags.isEnabled("banner") ? "banner" : "no banner";
  const children = [banner, ", ", createElement(Checkout, { key: "checkout" })];
  return createElement(FeatureFlagsProvider, { bootstrap: flags.snapshot() }, children);
};

function Checkout() {
  return useFlag("new_checkout") ? "new" : "old";
}
