import { useFlagsStatus } from "@pennon/react";

/** Shows whether the flags are up to date. Most pages do not need this: every read has a value at any time. */
export function Status() {
  const { ready, error } = useFlagsStatus();
  if (error !== undefined) {
    return <p role="status">Cannot reach Pennon: {error.message}</p>;
  }
  return <p role="status">{ready ? "The flags are up to date." : "Fetching the flags…"}</p>;
}
