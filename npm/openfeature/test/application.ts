import type { EvaluationContext, Hook, JsonValue } from "@openfeature/web-sdk";
import type { FeatureFlagsClient, FeatureFlagsClientOptions } from "@pennon/core";

export type Given = FeatureFlagsClient | FeatureFlagsClientOptions;

/** The types as which an application may evaluate a flag, and their default values. */
export const FALLBACKS = {
  boolean: false,
  true: true,
  string: "fallback",
  number: 7,
  object: { other: "wise" },
} as const satisfies Record<string, JsonValue>;

export type Kind = keyof typeof FALLBACKS;

/** The result of an evaluation by OpenFeature, in either SDK. */
export interface Details {
  readonly value: JsonValue;
  readonly variant?: string;
  readonly reason?: string;
  readonly errorCode?: string;
  readonly errorMessage?: string;
  readonly flagMetadata?: Readonly<Record<string, unknown>>;
}

/** An application that uses only OpenFeature. */
export interface Application {
  readonly events: Events;
  /** The provider's status, as the SDK reports it. */
  status(): string;
  /** Switches to this context. */
  setContext(context: EvaluationContext): Promise<void>;
  evaluate(key: string, kind?: Kind): Promise<Details>;
  /** Runs `action`, and waits until the application has processed its effects. */
  process<T>(action: () => Promise<T>): Promise<T>;
  /** Tracks an event of a user. */
  track(event: string): void;
  addHook(hook: Hook): void;
  /** Closes the application and its provider. */
  close(): Promise<void>;
}

/** Starts an application, with a provider that gets this argument, and does not wait until the provider is ready. */
export type Start = (given: Given) => Promise<Application>;

interface EventDetails {
  readonly flagsChanged?: readonly string[];
}

/** The events that an application received, in order. */
export class Events {
  readonly list: string[] = [];
  #waiting: (() => void)[] = [];

  /** Returns a handler for events of this name. */
  readonly handler = (name: string) => (details?: object) => {
    const { flagsChanged = [] } = (details ?? {}) as EventDetails;
    this.list.push([name, ...flagsChanged].join(" "));
    for (const look of this.#waiting) {
      look();
    }
  };

  /** Waits for this number of events, and returns them. */
  async received(count: number): Promise<readonly string[]> {
    await new Promise<void>((resolve) => {
      const look = () => this.list.length >= count && resolve();
      this.#waiting.push(look);
      look();
    });
    this.#waiting = [];
    return this.list;
  }
}
