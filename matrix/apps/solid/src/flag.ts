import type { EvaluationContext } from "@pennon/core";
import { type Accessor, createEffect, createSignal, onCleanup } from "solid-js";
import { client } from "./client";

/** Returns whether the flag is on for the context, as a signal that follows both. */
export function createFlag(key: string, context: Accessor<EvaluationContext>): Accessor<boolean> {
  const read = () => client.withContext(context()).isEnabled(key);
  const [enabled, setEnabled] = createSignal(read());
  createEffect(() => {
    setEnabled(read());
    onCleanup(client.subscribe(() => setEnabled(read())));
  });
  return enabled;
}
