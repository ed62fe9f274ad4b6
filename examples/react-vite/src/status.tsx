import { useFlagsStatus } from "@pennon/react";

/** What a page can say about its flags. Most pages need not say anything: reads have an answer all the time. */
export function Status() {
  const { ready, error } = useFlagsStatus();
  if (error !== undefined) {
    return <p role="status">No contact with the service: {error.message}</p>;
  }
  return <p role="status">{ready ? "The flags are up to date." : "Fetching the flags…"}</p>;
}
