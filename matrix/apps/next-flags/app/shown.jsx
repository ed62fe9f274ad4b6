"use client";

import { useFlag, useFlagsStatus } from "@pennon/next/client";
import { useEffect, useState } from "react";
import { ask } from "./ask";

/** Shows the value of the flag, and records the value of each render in `window.renders`. */
export function Shown({ user }) {
  const isOn = useFlag("per-user-99");
  const { ready } = useFlagsStatus();
  const [asked, setAsked] = useState("");
  if (typeof window !== "undefined") {
    window.renders = [...(window.renders ?? []), isOn];
  }
  useEffect(() => {
    document.body.dataset.ready = String(ready);
  }, [ready]);
  return (
    <>
      <output>{String(isOn)}</output>
      <button type="button" onClick={async () => setAsked(String(await ask(user)))}>
        {asked}
      </button>
    </>
  );
}
