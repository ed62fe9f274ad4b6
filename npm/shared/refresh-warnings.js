// Bundled into the packages for servers.

export function warnOfRefreshes(client, warn) {
  let hasWarned = false;
  client.on("refresh:error", ({ error }) => {
    if (!hasWarned) {
      hasWarned = true;
      warn(`The flags could not be refreshed. ${error.message}`);
    }
  });
  client.on("refresh:success", () => {
    hasWarned = false;
  });
}
