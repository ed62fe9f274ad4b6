import express from "express";
import { client } from "./flags.js";

export const app = express();

/** Binds the flags to the user of the request. Your application takes the user from its sign-in instead. */
app.use((request, response, next) => {
  response.locals.flags = client.withContext({
    userId: request.get("X-User"),
    country: request.get("X-Country"),
  });
  next();
});

/** Hides a route while the flag is off. */
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
