import { BUILT_IN_ATTRIBUTES } from "../engine/protocol.js";
import type { EvaluationContext } from "../evaluation.js";
import { type Logger, noopLogger } from "../logger.js";
import { VERSION } from "../version.js";
import { isComparable, isObject, namesIn, own } from "./attributes.js";
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

/**
 * Logs one warning for each attribute that rules cannot see: because it is not under `customAttributes`, or because its
 * value has a type that counts as missing.
 */
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
    if (this.#contexts === this.#next && this.#logger !== noopLogger) {
      this.#next += this.#contexts < FIRST_CONTEXTS ? 1 : SAMPLE_INTERVAL;
      this.#check(beginReading(context));
      endReading();
    }
  }

  #check(context: unknown): void {
    for (const name of namesIn(context)) {
      if (!ATTRIBUTES.has(name)) {
        this.#warn(name);
      } else if (name !== "customAttributes") {
        this.#checkType(name, own(context, name), false);
      }
    }
    const members = own(context, "customAttributes");
    if (hasNoMembers(members)) {
      this.#warn("customAttributes", members, false);
    }
    for (const name of namesIn(members)) {
      this.#checkType(name, own(members, name), true);
    }
  }

  /** Checks an attribute that is in its place. Null and undefined are missing on purpose. */
  #checkType(name: string, value: unknown, isCustom: boolean): void {
    const counts = isCustom ? isComparable(value) : typeof value === "string";
    if (!counts && (value ?? undefined) !== undefined) {
      this.#warn(name, value, isCustom);
    }
  }

  /** Logs a warning, unless there has been one of the attribute, or too many in all. Its text is loaded on demand. */
  #warn(name: string, value?: unknown, isCustom?: boolean): void {
    if (!this.#warned.has(name) && this.#warned.size < MAX_WARNINGS) {
      this.#warned.add(name);
      import("../lazy/index.js")
        .then((lazy) => this.#logger.warn(lazy.contextWarning(name, value, isCustom)))
        .catch(() => {});
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

/** Returns true for text, a number, an array or a map, whose content rules cannot see. */
function hasNoMembers(value: unknown): boolean {
  try {
    return (value ?? undefined) !== undefined && (!isObject(value) || Symbol.iterator in value);
  } catch {
    return false;
  }
}
