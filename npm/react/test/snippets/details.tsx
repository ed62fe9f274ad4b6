import { useFeatureFlagsClient, useFlagDetails, useFlags, useFlagsStatus } from "@pennon/react";

export function Reason() {
  const { value, reason, loading } = useFlagDetails("new_checkout");
  return <code>{loading ? "…" : `${value}: ${reason ?? "no such flag"}`}</code>;
}

export function Both() {
  const { new_checkout, banner } = useFlags(["new_checkout", "banner"]);
  return new_checkout && banner ? <p>Both</p> : null;
}

export function Status() {
  const { ready, error } = useFlagsStatus();
  const client = useFeatureFlagsClient();
  return error === undefined ? (
    <p>{ready ? "Up to date" : "Loading"}</p>
  ) : (
    <button type="button" onClick={() => client.refresh().catch(console.error)}>
      Try again
    </button>
  );
}
