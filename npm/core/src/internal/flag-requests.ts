import type { EvaluationContext } from "../evaluation.js";
import type { Snapshot } from "../snapshot.js";
import type { Evaluations } from "./evaluations.js";
import { fetchFlags, type Reply, textOf } from "./exchange.js";
import type { KeyedContext } from "./keyed-context.js";
import { parseBootstrap } from "./parse-bootstrap.js";
import type { Settings } from "./settings.js";

/** A request for the flags. */
interface FlagRequest {
  /** In remote mode, the context for which it requests evaluations. */
  readonly context: KeyedContext | undefined;
  readonly reply: Promise<Reply>;
}

/** Requests for the flags, of which at most one is pending. The first can be sent before a core commands it. */
export class FlagRequests {
  readonly #settings: Settings;
  readonly #evaluations: Evaluations;
  /** Aborts the newest request for the flags. */
  #controller: AbortController | undefined;
  /** Aborts the only request for a bootstrap, beside which one for the flags may be pending. */
  readonly #bootstrapController = new AbortController();
  /** The request that no core has commanded yet. */
  #early: FlagRequest | undefined;
  /** The tag that the stream has announced. */
  announced: string | undefined;

  constructor(settings: Settings, evaluations: Evaluations) {
    this.#settings = settings;
    this.#evaluations = evaluations;
  }

  /** Requests a bootstrap for this context. Returns undefined, or rejects, if the server does not return one. */
  async bootstrap(context: EvaluationContext): Promise<Snapshot | undefined> {
    const wanted = { context, isBootstrap: true, etag: undefined, announced: undefined };
    const reply = await fetchFlags(this.#settings, wanted, this.#bootstrapController.signal);
    return reply.status === 200 ? parseBootstrap(JSON.parse(textOf(reply))).snapshot : undefined;
  }

  /** Sends the first request, which the next call of `send` returns, too. */
  sendEarly(): FlagRequest {
    const early = this.#send(undefined);
    // If the engine cannot be loaded, nothing else handles a failure.
    early.reply.catch(() => {});
    this.#early = early;
    return early;
  }

  /** Returns the early request, unless it is for another context, or sends a request. */
  send(etag: string | undefined): FlagRequest {
    const early = this.#early;
    if (early !== undefined && this.takeEarly()) {
      return early;
    }
    this.dropEarly();
    return this.#send(etag);
  }

  /** Forgets the early request, which is used now. Returns false if there is none for the current context. */
  takeEarly(): boolean {
    const isCurrent =
      this.#early !== undefined && this.#early.context === this.#evaluations.requested;
    if (isCurrent) {
      this.#early = undefined;
    }
    return isCurrent;
  }

  dropEarly(): void {
    if (this.#early !== undefined) {
      this.#early = undefined;
      this.abort();
    }
  }

  /** Aborts the pending requests. A bootstrap that takes longer than a request for the flags may take is useless. */
  abort(): void {
    this.#controller?.abort();
    this.#bootstrapController.abort();
  }

  #send(etag: string | undefined): FlagRequest {
    const context = this.#evaluations.requested;
    this.#controller = new AbortController();
    this.#settings.logger.debug("Fetching the flags", { etag });
    const wanted = { context: context?.context, etag, announced: this.announced };
    return { context, reply: fetchFlags(this.#settings, wanted, this.#controller.signal) };
  }
}
