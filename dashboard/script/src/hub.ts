/** Something that somebody changed. */
export type Change = {
  readonly action: string;
  /** When, in milliseconds. */
  readonly at: number;
  readonly by: string;
  /** The key of the flag concerned. */
  readonly flag?: string;
  /** The id of the environment concerned. */
  readonly environment?: string;
  /** The id of the request that made the change. */
  readonly request?: string;
  /** What was done, in words that go on after the name. */
  readonly what: string;
};

/** What pages are told. */
export type Word =
  /** The server answers. `at` is when the last change was, in milliseconds. */
  | { readonly kind: "position"; readonly at: number }
  | { readonly kind: "change"; readonly change: Change }
  /** The server does not answer. */
  | { readonly kind: "lost" }
  /** Nobody is signed in any more. */
  | { readonly kind: "ended" };

export type Listener = (word: Word) => void;

const address = "/dashboard/events";
/** For how long the stream stays when nobody looks: the next page may be on its way. */
const linger = 2_000;
/** After which time is tried again what failed, and by how much it may be more. */
const pause = 2_000;

/** Holds the stream of events while somebody looks, and passes on what it tells. */
export class Hub {
  readonly #looks = new Map<Listener, boolean>();
  #stream: EventSource | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the last change was; none while the server does not answer. */
  #at: number | undefined;

  look(listener: Listener, looks: boolean): void {
    this.#looks.set(listener, looks);
    if (looks) {
      if (this.#at !== undefined) {
        listener({ kind: "position", at: this.#at });
      } else if (this.#stream === undefined) {
        this.#open();
      }
    } else {
      this.#in(linger, () => this.#close());
    }
  }

  get #isLookedAt(): boolean {
    return [...this.#looks.values()].includes(true);
  }

  #tell(word: Word): void {
    for (const listener of this.#looks.keys()) {
      listener(word);
    }
  }

  #in(milliseconds: number, act: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(act, milliseconds);
  }

  #open(): void {
    clearTimeout(this.#timer);
    const stream = new EventSource(address);
    this.#stream = stream;
    stream.addEventListener("position", ({ data }) => {
      this.#at = (JSON.parse(data) as { at: number | null }).at ?? 0;
      this.#tell({ kind: "position", at: this.#at });
    });
    stream.addEventListener("change", ({ data }) => {
      const change = JSON.parse(data) as Change;
      this.#at = Math.max(this.#at ?? 0, change.at);
      this.#tell({ kind: "change", change });
    });
    stream.addEventListener("error", () => {
      this.#at = undefined;
      if (stream.readyState === EventSource.CLOSED && stream === this.#stream) {
        this.#stream = undefined;
        void this.#findOut();
      } else {
        this.#tell({ kind: "lost" });
      }
    });
  }

  /** Why the stream was refused. */
  async #findOut(): Promise<void> {
    const asked = fetch(address, { method: "HEAD", cache: "no-store" });
    const status = await asked.then(
      (answer) => answer.status,
      () => undefined,
    );
    if (status === 401) {
      this.#tell({ kind: "ended" });
    } else {
      this.#tell({ kind: "lost" });
      this.#in(pause * (1 + Math.random()), () => this.#resume());
    }
  }

  #resume(): void {
    if (this.#stream === undefined && this.#isLookedAt) {
      this.#open();
    }
  }

  #close(): void {
    if (this.#isLookedAt) {
      // The pause of an attempt that failed may have been cut short.
      this.#resume();
    } else {
      this.#stream?.close();
      this.#stream = undefined;
      this.#at = undefined;
    }
  }
}
