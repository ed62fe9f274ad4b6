import type { EvaluationContext } from "../context.js";
import type { Logger } from "../logger.js";

const ATTRIBUTES: ReadonlySet<string> = new Set<keyof EvaluationContext>([
  "userId",
  "tenantId",
  "email",
  "country",
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
  #contexts = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  look(context: unknown): void {
    this.#contexts += 1;
    const isDue = this.#contexts <= FIRST_CONTEXTS || this.#contexts % ONE_IN === 0;
    if (isDue && this.#told.size < MOST_NAMES && typeof context === "object" && context !== null) {
      this.#lookAt(context);
    }
  }

  #lookAt(context: object): void {
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

/** A context may be a proxy, which may throw. */
function namesIn(context: object): readonly string[] {
  try {
    return Object.keys(context);
  } catch {
    return [];
  }
}
