import { keyOf } from "../context-key.js";
import { FeatureFlagsError } from "../errors.js";
import type { Evaluation, EvaluationContext, Explanation } from "../evaluation.js";
import type { Snapshot } from "../snapshot.js";
import { Evaluations } from "./evaluations.js";
import type { FlagStore } from "./flag-store.js";
import { isAccepted, type KeyedContext, keyedContext } from "./keyed-context.js";
import type { Settings } from "./settings.js";

/** Returns the server's evaluations for one context: that of the client. */
export class RemoteEvaluations extends Evaluations {
  #requested: KeyedContext;

  constructor(flags: FlagStore, settings: Settings) {
    super(flags, settings);
    this.#requested = this.#keyed(settings.context);
  }

  override get requested(): KeyedContext {
    return this.#requested;
  }

  override get context(): EvaluationContext {
    return this.#served.context;
  }

  /** The context of the flags; before there are any, the requested one. */
  get #served(): KeyedContext {
    return this.flags.context ?? this.#requested;
  }

  override setRequested(context: unknown): boolean {
    const requested = this.#keyed(context);
    const isOther = requested.key !== this.#requested.key;
    if (isOther) {
      this.#requested = requested;
    }
    return isOther;
  }

  /** Serves the flags of a snapshot whose evaluations hold for the client's context. */
  override serveSnapshot({ flags, subject }: Snapshot): void {
    const isSame =
      subject !== undefined && keyOf(subject.context, isAccepted) === this.#requested.key;
    const targeted = new Map(isSame ? subject.flags.map((flag) => [flag.key, flag]) : []);
    const evaluated = flags.flatMap((flag) => {
      const found = flag.targeted ? targeted.get(flag.key) : flag;
      return found === undefined ? [] : [{ ...found, targeted: false }];
    });
    this.flags.serveSnapshot(evaluated, this.#requested);
  }

  override withoutContext(key: string, context: unknown): Evaluation {
    return this.evaluate(key, context);
  }

  override evaluate(key: string, context: unknown): Evaluation {
    this.requireServed(context);
    return super.evaluate(key, this.context);
  }

  override read(key: string, context: unknown): Evaluation | undefined {
    return this.#isServed(context) ? super.read(key, this.context) : this.fallback(key, context);
  }

  override peek(key: string, context: unknown): Evaluation | undefined {
    return this.#isServed(context) ? super.peek(key, this.context) : this.fallbacks.get(key);
  }

  override readAll(context: unknown): Readonly<Record<string, Evaluation>> {
    return this.#isServed(context)
      ? super.readAll(this.context)
      : Object.freeze(Object.create(null));
  }

  /** Returns true for every flag that exists, because the client does not know the rules. */
  override isTargeted(key: string): boolean {
    return this.flags.get(key) !== undefined;
  }

  override explain(): Explanation {
    throw new FeatureFlagsError(
      "EVALUATION_FAILED",
      'explain() needs rules, which mode: "remote" never sees. Use the dashboard.',
    );
  }

  /** Returns the evaluations. Every flag counts as targeted, because they are valid only for this context. */
  override snapshot(): Snapshot {
    const flags = Array.from(this.flags.entries(), ([key, { evaluation }]) => ({
      key,
      ...evaluation,
    }));
    return {
      version: 1,
      flags: flags.map((flag) => ({ ...flag, targeted: true })),
      subject: { context: this.context, flags },
    };
  }

  override snapshotFor(context: EvaluationContext | undefined): Snapshot {
    this.requireServed(context);
    return this.snapshot();
  }

  override requireServed(context: unknown): void {
    if (!this.#isServed(context)) {
      throw new FeatureFlagsError(
        "EVALUATION_FAILED",
        'The client has no evaluations for this context. In mode: "remote", await setContext(context), ' +
          "or read without one.",
      );
    }
  }

  /** Returns undefined: the server has evaluated all flags. */
  protected override evaluateTargeted(): undefined {}

  #isServed(context: unknown): boolean {
    const served = this.#served;
    return (
      context === undefined ||
      context === null ||
      context === served.context ||
      keyOf(context, isAccepted) === served.key
    );
  }

  #keyed(given: unknown): KeyedContext {
    this.contextCheck.check(given);
    return keyedContext(given, isAccepted);
  }
}
