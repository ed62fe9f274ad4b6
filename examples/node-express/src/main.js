import { app } from "./app.js";
import { client, loadFlags } from "./flags.js";

// If Pennon answers soon, even the first requests have flags.
await loadFlags();

const server = app.listen(process.env.PORT ?? 4001, "127.0.0.1", (error) => {
  if (error) {
    throw error;
  }
  console.log(`Listening on http://127.0.0.1:${server.address().port}`);
});

for (const signal of ["SIGINT", "SIGTERM"]) {
  // Open requests still read flags, so the client stops last.
  process.once(signal, () => server.close(() => client.shutdown()));
}
