import { DEFAULT_MAX_AGE_SECONDS, type Store } from "../store.js";
import { callSafely } from "./call-safely.js";
import type { Settings } from "./settings.js";
import { sourceOf } from "./source.js";

/** The version of the stored format. Clients ignore any other version. */
const VERSION = 1;

/**
 * The fraction of `maxAgeSeconds` after which an unchanged document is saved again, with a new time of confirmation.
 */
const RENEWED_AFTER = 0.1;

/** A config document from a store. */
export interface StoredDocument {
  /** The text of the config document. */
  readonly config: string;
  /** The time since the server confirmed it, in milliseconds. */
  readonly ageMs: number;
  readonly maxAgeMs: number;
}

/** Keeps the config document in the caller's store, together with its environment. */
export class DocumentStore {
  readonly #store: Store;
  readonly #source: string;
  readonly #logger: Settings["logger"];
  readonly #maxAgeMs: number;
  /** The text of the newest config document. */
  #config: string | undefined;
  #savedAt = 0;
  #hasWarned = false;
  #saving: unknown;

  constructor(store: Store, { sdkKey, baseUrl, logger }: Settings) {
    this.#store = store;
    this.#source = sourceOf(sdkKey, baseUrl);
    this.#logger = logger;
    // In JavaScript, a store may have no age.
    this.#maxAgeMs = (store.maxAgeSeconds ?? DEFAULT_MAX_AGE_SECONDS) * 1_000;
  }

  /** Returns the stored document, if it may be served. Ignores any other content, with one warning. */
  load(): StoredDocument | undefined {
    const text = callSafely(
      () => this.#store.load(),
      (error) => this.warn("cannot be read, so it is ignored", error),
    );
    return typeof text === "string" ? this.#parse(text) : undefined;
  }

  /** Saves a config document that the server has just returned. */
  save(config: Uint8Array): void {
    this.#config = new TextDecoder().decode(config);
    this.#write(this.#config);
  }

  /** Records that the server has just confirmed the document. */
  renew(): void {
    if (this.#config !== undefined && Date.now() - this.#savedAt > this.#maxAgeMs * RENEWED_AFTER) {
      this.#write(this.#config);
    }
  }

  /** Waits for the last save. Never rejects. */
  async end(): Promise<void> {
    // If a listener has shut the client down, the save of the document that it was notified of follows in this tick.
    await undefined;
    await Promise.resolve(this.#saving).catch(() => {});
  }

  #write(config: string): void {
    const confirmedAt = Date.now();
    this.#savedAt = confirmedAt;
    const head = JSON.stringify({ version: VERSION, source: this.#source, confirmedAt });
    this.#saving = callSafely(
      () => this.#store.save(`${head.slice(0, -1)},"config":${config}}`),
      (error) => this.#logger.error("The store could not save the config document", error),
    );
  }

  #parse(text: string): StoredDocument | undefined {
    let parsed: Record<string, unknown> | undefined;
    try {
      parsed = Object(JSON.parse(text)) as Record<string, unknown>;
      parsed.config = JSON.stringify(parsed.config);
    } catch {
      // The content is damaged, or nested too deeply.
    }
    const { version, source, confirmedAt, config } = parsed ?? {};
    if (version !== VERSION || typeof confirmedAt !== "number" || typeof config !== "string") {
      return this.warn(
        "is damaged or has the format of another version, so it is ignored. The next fetch replaces it.",
      );
    }
    if (source !== this.#source) {
      return this.warn(
        "belongs to another environment, so it is ignored. Use one store for each environment.",
      );
    }
    // The clock may have been set back.
    const ageMs = Math.max(0, Date.now() - confirmedAt);
    if (!(ageMs <= this.#maxAgeMs)) {
      return this.warn(
        "is older than maxAgeSeconds, so it is ignored. The next fetch replaces it.",
      );
    }
    return { config, ageMs, maxAgeMs: this.#maxAgeMs };
  }

  /** Logs one warning: about content that cannot be served, or about serving it. */
  warn(detail: string, error?: unknown): undefined {
    if (!this.#hasWarned) {
      this.#hasWarned = true;
      this.#logger.warn(`The stored document ${detail}`, error);
    }
  }
}
