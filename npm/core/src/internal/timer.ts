/** A timer that keeps a Node.js process alive only while a caller waits for its effect. */
export class Timer {
  #handle: ReturnType<typeof setTimeout> | undefined;
  #held = false;

  /** Calls `fire` after `delay` milliseconds. Replaces the previous timer. */
  set(delay: number, fire: () => void): void {
    this.clear();
    this.#handle = setTimeout(fire, delay);
    this.#adjust();
  }

  clear(): void {
    clearTimeout(this.#handle);
    this.#handle = undefined;
  }

  /** Sets whether a caller waits. */
  hold(held: boolean): void {
    this.#held = held;
    this.#adjust();
  }

  #adjust(): void {
    // In a browser the handle is a number, and nothing keeps a page alive.
    const handle = this.#handle as Partial<Record<"ref" | "unref", () => void>> | undefined;
    handle?.[this.#held ? "ref" : "unref"]?.();
  }
}
