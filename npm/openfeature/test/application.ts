import type { EvaluationContext, Hook, JsonValue } from "@openfeature/web-sdk";
import type { FeatureFlagsClient, FeatureFlagsClientOptions } from "@pennon/core";

export type Given = FeatureFlagsClient | FeatureFlagsClientOptions;

/** What a flag may be taken for, and what is said where there is no answer. */
export const OTHERWISE = {
  boolean: false,
  true: true,
  string: "otherwise",
  number: 7,
  object: { other: "wise" },
} as const satisfies Record<string, JsonValue>;

export type Kind = keyof typeof OTHERWISE;

/** What OpenFeature tells of a flag, whichever SDK is asked. */
export interface Details {
  readonly value: JsonValue;
  readonly variant?: string;
  readonly reason?: string;
  readonly errorCode?: string;
  readonly errorMessage?: string;
  readonly flagMetadata?: Readonly<Record<string, unknown>>;
}

/** An application that knows OpenFeature only. */
export interface Application {
  readonly events: Events;
  /** The provider's status, as the SDK keeps it. */
  status(): string;
  /** Asks from now on for this subject. */
  isFor(context: EvaluationContext): Promise<void>;
  asks(key: string, kind?: Kind): Promise<Details>;
  /** Has something happen around the application, and waits until it has taken note. */
  sees<T>(happening: () => Promise<T>): Promise<T>;
  /** Tells the application's OpenFeature of something that a user did. */
  tracks(event: string): void;
  hasHook(hook: Hook): void;
  /** Ends as an application does, the provider with it. */
  close(): Promise<void>;
}

/** Starts one, with a provider that has been given this, and does not wait until that is ready. */
export type Start = (given: Given) => Promise<Application>;

interface EventDetails {
  readonly flagsChanged?: readonly string[];
}

/** What the SDK told an application, in order. */
export class Events {
  readonly list: string[] = [];
  #waiting: (() => void)[] = [];

  /** A handler for events of this name. */
  readonly handler = (name: string) => (details?: object) => {
    const { flagsChanged = [] } = (details ?? {}) as EventDetails;
    this.list.push([name, ...flagsChanged].join(" "));
    for (const look of this.#waiting) {
      look();
    }
  };

  /** Waits until so many have been told, and gives them. */
  async told(count: number): Promise<readonly string[]> {
    await new Promise<void>((resolve) => {
      const look = () => this.list.length >= count && resolve();
      this.#waiting.push(look);
      look();
    });
    this.#waiting = [];
    return this.list;
  }
}
