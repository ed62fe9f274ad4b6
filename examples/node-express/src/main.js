import { app } from "./app.js";
import { begin, client } from "./flags.js";

// The first requests should have flags, if the service answers soon.
await begin();

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
