import type { Evaluation, EvaluationContext, Explanation } from "../evaluation.js";
import type { FlagReader } from "../reader.js";
import type { Snapshot } from "../snapshot.js";
import { namesIn, own } from "./attributes.js";
import type { Evaluations } from "./evaluations.js";
import { beginReading, endReading } from "./nesting.js";

/** A reader that evaluates each flag once, until the flags change. */
export class BoundReader implements FlagReader {
  /** The context; undefined to follow that of a client in remote mode. */
  readonly #context: EvaluationContext | undefined;
  readonly #evaluations: Evaluations;
  /** The revision of the flags from which the cached evaluations come. */
  #revision = -1;
  #cached = new Map<string, Evaluation>();
  #all: Readonly<Record<string, Evaluation>> = Object.freeze(Object.create(null));
  #allOf = -1;

  constructor(evaluations: Evaluations, context: EvaluationContext | null | undefined) {
    this.#evaluations = evaluations;
    const isBound = evaluations.context === undefined || Boolean(context);
    this.#context = isBound ? copied(context) : undefined;
  }

  get context(): EvaluationContext {
    return this.#context ?? this.#evaluations.context ?? {};
  }

  isEnabled(key: string, fallback = false): boolean {
    return this.read(key)?.enabled ?? fallback;
  }

  read(key: string): Evaluation | undefined {
    const evaluations = this.#evaluations;
    const known = this.#known(key);
    if (known !== undefined) {
      evaluations.onEvaluation?.(key, known, this.context);
      return known;
    }
    return this.#remember(key, evaluations.read(key, this.#context));
  }

  peek(key: string): Evaluation | undefined {
    return this.#known(key) ?? this.#remember(key, this.#evaluations.peek(key, this.#context));
  }

  #known(key: string): Evaluation | undefined {
    const { revision } = this.#evaluations.flags;
    if (this.#revision !== revision) {
      this.#revision = revision;
      this.#cached = new Map();
    }
    return this.#cached.get(key);
  }

  #remember(key: string, evaluation: Evaluation | undefined): Evaluation | undefined {
    if (evaluation !== undefined) {
      this.#cached.set(key, evaluation);
    }
    return evaluation;
  }

  readAll(): Readonly<Record<string, Evaluation>> {
    if (this.#allOf !== this.#evaluations.flags.revision) {
      this.#allOf = this.#evaluations.flags.revision;
      const all = this.#evaluations.readAll(this.#context);
      if (!equal(all, this.#all)) {
        this.#all = all;
      }
    }
    return this.#all;
  }

  evaluate(key: string): Evaluation {
    this.#evaluations.requireServed(this.#context);
    const known = this.#evaluations.isReady ? this.read(key) : undefined;
    return known ?? this.#evaluations.evaluate(key, this.#context);
  }

  explain(key: string): Explanation {
    return this.#evaluations.explain(key, this.#context);
  }

  snapshot(): Snapshot {
    return this.#evaluations.snapshotFor(this.#context);
  }
}

/**
 * Copies a context. Evaluations are cached, so a later change of the caller's object must not affect some flags and not
 * others.
 */
function copied(given: unknown): EvaluationContext {
  // A function has no attributes, as in the engine.
  const copy = ownMembers(beginReading(given));
  const customAttributes = ownMembers(copy.customAttributes);
  endReading();
  return Object.hasOwn(copy, "customAttributes") ? { ...copy, customAttributes } : copy;
}

/** Copies the members that an object owns. One that cannot be read is missing, as in the engine. */
function ownMembers(owner: unknown): Record<string, never> {
  const names = namesIn(owner);
  try {
    // Much faster, but a getter may throw, and the copy lacks properties that are not enumerable.
    const copy = { ...(owner as Record<string, never>) };
    if (Object.keys(copy).length === names.length) {
      return copy;
    }
  } catch {}
  return Object.fromEntries(names.map((name) => [name, own(owner, name) as never]));
}

function equal(one: Readonly<Record<string, Evaluation>>, other: typeof one): boolean {
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && one[key] === other[key])
  );
}
