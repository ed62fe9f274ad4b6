/** Takes a reader, as `client.withContext()` returns it. */
export function checkoutTitle(flags) {
  return flags.isEnabled("new_checkout") ? "Buy now" : "Check out";
}
