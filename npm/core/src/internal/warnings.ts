import { BUILT_IN_ATTRIBUTES } from "../engine/protocol.js";
import type { EvaluationContext } from "../evaluation.js";
import type { Logger } from "../logger.js";
import { VERSION } from "../version.js";
import { namesIn } from "./attributes.js";
import type { ConfiguredFlags } from "./flags.js";
import { beginReading, endReading } from "./nesting.js";

const ATTRIBUTES: ReadonlySet<string> = new Set<keyof EvaluationContext>([
  ...BUILT_IN_ATTRIBUTES,
  "customAttributes",
]);

/** The maximum number of warnings. An application that spreads data into contexts may use any number of names. */
const MAX_WARNINGS = 20;

/**
 * The number of contexts that are checked at first. After them, one in `SAMPLE_INTERVAL` is checked, because a check
 * takes about as long as an evaluation.
 */
const FIRST_CONTEXTS = 1_000;
const SAMPLE_INTERVAL = 64;

/** Logs one warning for each attribute that rules cannot see, because it is not under `customAttributes`. */
export class ContextCheck {
  readonly #logger: Logger;
  readonly #warned = new Set<string>();
  #contexts = 0;
  /** The number of the next context that is checked. */
  #next = 1;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  check(context: unknown): void {
    this.#contexts += 1;
    if (this.#contexts === this.#next) {
      this.#next += this.#contexts < FIRST_CONTEXTS ? 1 : SAMPLE_INTERVAL;
      this.#checkNames(context);
    }
  }

  #checkNames(context: unknown): void {
    const names = namesIn(beginReading(context));
    endReading();
    for (const name of names) {
      if (!ATTRIBUTES.has(name) && !this.#warned.has(name) && this.#warned.size < MAX_WARNINGS) {
        this.#warned.add(name);
        this.#logger.warn(
          `The attribute '${name}' of a context is ignored. ` +
            "Put all attributes except userId, tenantId, email and country under customAttributes.",
        );
      }
    }
  }
}

/** Logs one warning for each flag that requires a newer version of the package. */
export class SupportCheck {
  readonly #logger: Logger;
  readonly #warned = new Set<string>();
  #hasWarnedOfEntries = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  check({ unsupported, skipped }: ConfiguredFlags): void {
    for (const { key, value } of unsupported) {
      if (!this.#warned.has(key)) {
        this.#warned.add(key);
        this.#logger.warn(
          `The flag '${key}' ${value === "" ? "lacks a member" : `has ${value}, which is a value`} ` +
            `that @pennon/core ${VERSION} does not support, so it cannot be evaluated for a context. ` +
            "Install a newer version, or add the flag to fallbacks.",
        );
      }
    }
    if (skipped > 0 && !this.#hasWarnedOfEntries) {
      this.#hasWarnedOfEntries = true;
      this.#logger.warn(
        `${skipped} of the flags are ignored, because @pennon/core ${VERSION} does not support their key or switch. ` +
          "Install a newer version.",
      );
    }
  }
}
