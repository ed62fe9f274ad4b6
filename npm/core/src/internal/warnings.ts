import { BUILT_IN_ATTRIBUTES } from "../engine/protocol.js";
import type { EvaluationContext } from "../evaluation.js";
import type { Logger } from "../logger.js";
import { VERSION } from "../version.js";
import type { ConfiguredFlags } from "./flags.js";

const ATTRIBUTES: ReadonlySet<string> = new Set<keyof EvaluationContext>([
  ...BUILT_IN_ATTRIBUTES,
  "customAttributes",
]);

/** The number of names that are told: whoever spreads data into contexts may have any number of them. */
const MOST_NAMES = 20;

/** The first contexts are all looked at, and after them one in so many: a look takes about as long as an evaluation. */
const FIRST_CONTEXTS = 1_000;
const ONE_IN = 64;

/** Warns once of each attribute that rules cannot see because it is not under `customAttributes`. */
export class ContextCheck {
  readonly #logger: Logger;
  readonly #told = new Set<string>();
  #looks = 0;
  /** How many contexts pass before the next look. */
  #passing = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  look(context: unknown): void {
    if (this.#passing > 0) {
      this.#passing -= 1;
    } else {
      this.#looks += 1;
      this.#passing = this.#looks < FIRST_CONTEXTS ? 0 : ONE_IN - 1;
      this.#lookAt(context);
    }
  }

  #lookAt(context: unknown): void {
    for (const name of namesIn(context)) {
      if (!ATTRIBUTES.has(name) && !this.#told.has(name) && this.#told.size < MOST_NAMES) {
        this.#told.add(name);
        this.#logger.warn(
          `The attribute '${name}' of a context is ignored: only userId, tenantId, email and country stand beside customAttributes, where all others belong`,
        );
      }
    }
  }
}

/** A context may be anything: a proxy may throw. */
function namesIn(context: unknown): readonly string[] {
  try {
    return typeof context === "object" && context !== null ? Object.keys(context) : [];
  } catch {
    return [];
  }
}

/** Warns once of each flag that a newer package is needed for. */
export class SupportCheck {
  readonly #logger: Logger;
  readonly #warned = new Set<string>();
  #hasWarnedOfEntries = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  check({ unsupported, skipped }: ConfiguredFlags): void {
    for (const { key, word } of unsupported) {
      if (!this.#warned.has(key)) {
        this.#warned.add(key);
        this.#logger.warn(
          `The flag '${key}' ${word === "" ? "lacks a member" : `has ${word}, which is a value`} that @pennon/core ${VERSION} does not support: only fallbacks answer for its subjects. Install a newer version`,
        );
      }
    }
    if (skipped > 0 && !this.#hasWarnedOfEntries) {
      this.#hasWarnedOfEntries = true;
      this.#logger.warn(
        `${skipped} of the flags have a key or switch that @pennon/core ${VERSION} does not support, and are left out. Install a newer version`,
      );
    }
  }
}
