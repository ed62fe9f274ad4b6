import type { EvaluationContext } from "@pennon/core";
import { createSubscriber } from "svelte/reactivity";
import { client } from "./client";

const subscribe = createSubscriber((update) => client.subscribe(update));

/** Returns an object whose `enabled` follows the flag and the context. */
export function flag(key: string, context: () => EvaluationContext) {
  return {
    get enabled() {
      subscribe();
      return client.withContext(context()).isEnabled(key);
    },
  };
}
