import { FeatureFlagsClient } from "/pennon/index.js";
import settings from "/settings.js";

const client = new FeatureFlagsClient({
  ...settings,
  // A change arrives at once, and not with the next poll.
  streaming: true,
});

/** Who may be signed in. Flags are evaluated here, and nothing about anybody is sent anywhere. */
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

/** Shows what the flags are for whoever is signed in. There is an answer all the time: what is not known is off. */
function show() {
  const flags = client.withContext(people[user.value]);
  banner.hidden = !flags.isEnabled("banner");
  checkout.textContent = flags.isEnabled("new_checkout") ? "Buy now with one click" : "Check out";
  reason.textContent = flags.read("new_checkout")?.reason ?? "no such flag";
}

/** Fetches the flags. While the service is down, the client goes on trying. */
function begin() {
  client.initialize({ retry: "background" }).catch((error) => bad({ error }));
}

function good() {
  status.textContent = "The flags are up to date.";
}

function bad({ error }) {
  status.textContent = `No contact with the service: ${error.message}`;
}

user.addEventListener("change", show);
client.subscribe(show);
client.on("ready", good);
client.on("refresh:success", good);
client.on("refresh:error", bad);
show();
begin();
