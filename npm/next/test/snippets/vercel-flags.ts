import { type EvaluationContext, pennonAdapter } from "@pennon/next/flags";
import { flag } from "flags/next";

export const newCheckout = flag<boolean, EvaluationContext>({
  key: "new_checkout",
  adapter: pennonAdapter,
  identify: ({ cookies }) => ({ userId: cookies.get("user")?.value }),
});
