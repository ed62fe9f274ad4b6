import { FeatureFlagsClient } from "@pennon/core";

/** Creates a client that starts with the flags that this browser last had for this context. */
export function clientFor(context, options) {
  const name = `pennon:${JSON.stringify(context)}`;
  const saved = localStorage.getItem(name);
  const client = new FeatureFlagsClient({
    ...options,
    bootstrap: saved === null ? undefined : JSON.parse(saved),
  });
  const flags = client.withContext(context);
  const save = () => {
    // Without flags, as in a long outage, the saved ones stay.
    if (Object.keys(flags.readAll()).length > 0) {
      localStorage.setItem(name, JSON.stringify(flags.snapshot()));
    }
  };
  return client.on("ready", save).on("change", save);
}
