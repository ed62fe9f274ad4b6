import type { EvaluationContext } from "../evaluation.js";
import type { Evaluations } from "./evaluations.js";
import type { Reply } from "./exchange.js";
import type { FlagRequests } from "./flag-requests.js";
import type { ConfiguredFlags } from "./flags.js";
import { IdleTask } from "./idle-task.js";
import type { KeyedContext } from "./keyed-context.js";
import { remoteFlags } from "./remote-flags.js";
import type { Settings } from "./settings.js";

/** False in the files for workers, from which the build removes what only pages need. */
declare const RUNS_IN_PAGES: boolean;

/**
 * The maximum time for which the engine of a page waits, so that the first evaluations have the network to themselves.
 * If they take longer, the server is slow, and not the network.
 */
const MAX_ENGINE_DELAY_MS = 1_000;

/** The client that gets the first flags. */
export interface FirstFlagsClient {
  /** True after the client was shut down. */
  readonly isEnded: boolean;
  /** True while `initialize()` is pending, and afterwards if the client keeps trying. */
  readonly isTrying: boolean;
  /** Serves flags. */
  apply(flags: ConfiguredFlags): void;
  /** Reports that the first flags are served. */
  becomeReady(): void;
}

/** A response and its flags. */
export interface ServedReply {
  readonly reply: Reply;
  readonly flags: ConfiguredFlags;
}

/**
 * The first flags of a client. They are requested before the engine is loaded. Pages serve them without the engine if
 * they are evaluations, and then load the engine when they are idle.
 */
export class FirstFlags {
  readonly #settings: Settings;
  readonly #evaluations: Evaluations;
  readonly #requests: FlagRequests;
  readonly #client: FirstFlagsClient;
  /** The newest start of the engine. */
  #start: IdleTask | undefined;
  /** In remote mode, the first response, if its flags were served before the core was loaded. */
  #served: ServedReply | undefined;

  constructor(
    settings: Settings,
    evaluations: Evaluations,
    requests: FlagRequests,
    client: FirstFlagsClient,
  ) {
    this.#settings = settings;
    this.#evaluations = evaluations;
    this.#requests = requests;
    this.#client = client;
  }

  /** True if the flags of a response were served that the core has not read. */
  get areServed(): boolean {
    return this.#served !== undefined;
  }

  /**
   * Calls `start`, which starts the engine: at once, or the first time when the page needs it, if a bootstrap has its
   * evaluations.
   */
  begin(start: () => void, isFirst: boolean): void {
    const { snapshot, bootstrapContext } = this.#settings;
    const canWait = isFirst && this.#start === undefined;
    this.cancelStart();
    this.#start = new IdleTask(start);
    if (canWait && snapshot?.subject !== undefined) {
      this.#startWhenIdle();
    } else if (canWait && RUNS_IN_PAGES && bootstrapContext !== undefined) {
      this.#fetchBootstrap(bootstrapContext);
    } else {
      this.startNow();
    }
  }

  /** Starts the engine now, if it waits until it is needed. */
  startNow(): void {
    this.#start?.run();
  }

  cancelStart(): void {
    this.#start?.cancel();
  }

  /**
   * Requests the flags. In a page in remote mode, returns a promise that resolves when the network is free for the
   * engine.
   */
  fetch(): Promise<void> | undefined {
    const fetched = this.#fetch();
    return this.#isRemotePage ? fetched : undefined;
  }

  /** Returns the response whose flags were served, and forgets it. */
  takeServed(): ServedReply | undefined {
    const served = this.#served;
    this.#served = undefined;
    return served;
  }

  /** True if a page asks for evaluations, and can read the first ones without the engine. */
  get #isRemotePage(): boolean {
    const { mode, isPublicPage } = this.#settings;
    return isPublicPage && mode === "remote";
  }

  async #fetch(): Promise<void> {
    // The caller may set a context or shut the client down in the same tick.
    await undefined;
    if (this.#client.isEnded) {
      return;
    }
    const { context, reply } = this.#requests.sendEarly();
    if (RUNS_IN_PAGES && context !== undefined && this.#isRemotePage) {
      await soon(reply.then((reply) => this.#serve(reply, context)));
    }
  }

  /**
   * Requests the bootstrap of a page, and serves it. The engine then has the network to itself, and starts when the
   * page is idle. Without a bootstrap, it starts at once.
   */
  async #fetchBootstrap(context: EvaluationContext): Promise<void> {
    // The caller may shut the client down in the same tick.
    await undefined;
    if (this.#client.isEnded) {
      return;
    }
    const served = this.#requests.bootstrap(context).then((snapshot) => {
      if (snapshot !== undefined && this.#isAwaited) {
        this.#evaluations.serveSnapshot(snapshot);
        this.#startWhenIdle();
        this.#client.becomeReady();
      }
    });
    await soon(served);
    if (this.#isAwaited) {
      this.startNow();
    }
  }

  /** Starts the engine when the page is idle, or when an evaluation needs it. */
  #startWhenIdle(): void {
    this.#evaluations.startEngine = this.#start?.run;
    this.#start?.runWhenIdle();
  }

  /**
   * Serves the evaluations in the first response, for which a page should not wait until the engine is loaded. The core
   * reads the response afterwards. Other responses are left to the core.
   */
  #serve(reply: Reply, context: KeyedContext): void {
    const flags = remoteFlags(reply, context);
    if (flags !== undefined && this.#isAwaited && this.#requests.takeEarly()) {
      this.#served = { reply, flags };
      this.#client.apply(flags);
      this.#client.becomeReady();
    }
  }

  /** True while the client waits for its first flags. */
  get #isAwaited(): boolean {
    return this.#client.isTrying && !this.#client.isEnded && !this.#evaluations.isReady;
  }
}

/** Resolves when the first evaluations are served, or cannot be, and at the latest after `MAX_ENGINE_DELAY_MS`. */
function soon(served: Promise<void>): Promise<void> {
  const late = new Promise<void>((resolve) => setTimeout(resolve, MAX_ENGINE_DELAY_MS));
  return Promise.race([served.catch(() => {}), late]);
}
