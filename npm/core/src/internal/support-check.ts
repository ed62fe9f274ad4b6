import type { Logger } from "../logger.js";
import { VERSION } from "../version.js";
import type { ConfiguredFlags } from "./flags.js";

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
