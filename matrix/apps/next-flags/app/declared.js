import { pennonAdapter } from "@pennon/next/flags";
import { flag } from "flags/next";

export const perUser = flag({
  key: "per-user-99",
  adapter: pennonAdapter,
  identify: ({ headers }) => ({ userId: headers.get("X-User") }),
});
