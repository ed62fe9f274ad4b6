import { FeatureFlagsClient } from "/pennon/index.js";
import settings from "/settings.js";

const client = new FeatureFlagsClient({
  ...settings,
  // Changes arrive at once instead of with the next poll.
  streaming: true,
  // While Pennon is unreachable, flags keep their values.
  staleIfError: true,
});

/** The users to choose from. Your page has a sign-in instead. */
const people = {
  ada: { userId: "ada", country: "GB", customAttributes: { seats: 12 } },
  grace: { userId: "grace", country: "US", customAttributes: { seats: 3 } },
  linus: { userId: "linus", country: "FI", customAttributes: { seats: 40 } },
};

const user = document.querySelector("#user");
const status = document.querySelector("#status");
const banner = document.querySelector("#banner");
const checkout = document.querySelector("#checkout");
const reason = document.querySelector("#reason");

/** Renders the flags for the selected user. Until the flags arrive, they are off. */
function render() {
  const flags = client.withContext(people[user.value]);
  banner.hidden = !flags.isEnabled("banner");
  checkout.textContent = flags.isEnabled("new_checkout") ? "Buy now with one click" : "Check out";
  reason.textContent = flags.read("new_checkout")?.reason ?? "no such flag";
}

function showSuccess() {
  status.textContent = "The flags are up to date.";
}

function showError({ error }) {
  status.textContent = `Cannot reach Pennon: ${error.message}`;
}

user.addEventListener("change", render);
client.subscribe(render);
client.on("ready", showSuccess);
client.on("refresh:success", showSuccess);
client.on("refresh:error", showError);
render();
// While Pennon is down, the client keeps trying.
client.initialize({ retry: "background" }).catch((error) => showError({ error }));
