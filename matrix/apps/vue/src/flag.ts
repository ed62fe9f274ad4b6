import type { EvaluationContext } from "@pennon/core";
import { type MaybeRefOrGetter, onWatcherCleanup, ref, toValue, watchPostEffect } from "vue";
import { client } from "./client";

/** Returns whether the flag is on for the context, as a ref that follows both. */
export function useFlag(key: string, context: MaybeRefOrGetter<EvaluationContext>) {
  const read = () => client.withContext(toValue(context)).isEnabled(key);
  const enabled = ref(read());
  const update = () => {
    enabled.value = read();
  };
  watchPostEffect(() => {
    update();
    onWatcherCleanup(client.subscribe(update));
  });
  return enabled;
}
