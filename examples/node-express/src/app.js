import express from "express";
import { client } from "./flags.js";

export const app = express();

/** Finds out whom the flags are for. Where there is a sign-in, that comes from there. */
app.use((request, response, next) => {
  response.locals.flags = client.withContext({
    userId: request.get("X-User"),
    country: request.get("X-Country"),
  });
  next();
});

/** Lets a request through only if the flag is on. Else there is no such route. */
function requireFlag(key) {
  return (_request, response, next) => next(response.locals.flags.isEnabled(key) ? null : "route");
}

app.get("/checkout", requireFlag("new_checkout"), (_request, response) => {
  response.json({ checkout: "new" });
});

app.get("/banner", (_request, response) => {
  const shown = response.locals.flags.isEnabled("banner");
  response.json({ banner: shown ? "Everything must go" : null });
});

app.get("/flags", (_request, response) => {
  response.json(response.locals.flags.readAll());
});
