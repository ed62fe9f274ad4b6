import { computed, DestroyRef, Injectable, inject, type Signal, signal } from "@angular/core";
import type { EvaluationContext } from "@pennon/core";
import { client } from "./client";

@Injectable({ providedIn: "root" })
export class Flags {
  readonly #changes = signal(0);

  constructor() {
    const unsubscribe = client.subscribe(() => this.#changes.update((count) => count + 1));
    inject(DestroyRef).onDestroy(unsubscribe);
  }

  /** Returns whether the flag is on for the context, as a signal that follows both. */
  flag(key: string, context: () => EvaluationContext): Signal<boolean> {
    return computed(() => {
      this.#changes();
      return client.withContext(context()).isEnabled(key);
    });
  }
}
