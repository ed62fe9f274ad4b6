/** A timer that keeps a Node process alive only while somebody waits for what it leads to. */
export class Timer {
  #handle: ReturnType<typeof setTimeout> | undefined;
  #held = false;

  /** Calls `fire` in so many milliseconds, instead of what was set before. */
  set(delay: number, fire: () => void): void {
    this.clear();
    this.#handle = setTimeout(fire, delay);
    this.#adjust();
  }

  clear(): void {
    clearTimeout(this.#handle);
    this.#handle = undefined;
  }

  /** Says whether somebody waits. */
  hold(held: boolean): void {
    this.#held = held;
    this.#adjust();
  }

  #adjust(): void {
    // In a browser the handle is a number, and pages end whenever they like.
    const handle = this.#handle as Partial<Record<"ref" | "unref", () => void>> | undefined;
    handle?.[this.#held ? "ref" : "unref"]?.();
  }
}
