import { setTimeout as sleep } from "node:timers/promises";
import { app } from "./app.js";
import { begin, client } from "./flags.js";

// The first requests are to have flags. If the service does not answer soon, the server starts without.
await Promise.race([begin(), sleep(2_000, undefined, { ref: false })]);

const server = app.listen(process.env.PORT ?? 4001, "127.0.0.1", (error) => {
  if (error) {
    throw error;
  }
  console.log(`Listening on http://127.0.0.1:${server.address().port}`);
});

for (const signal of ["SIGINT", "SIGTERM"]) {
  // Requests that are under way read flags until they are answered, so the client goes last.
  process.once(signal, () => server.close(() => client.shutdown()));
}
