/** The maximum delay of a timer, in milliseconds. A longer one would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** A timer that keeps a Node.js process alive only on demand. */
export class Timer {
  #handle: ReturnType<typeof setTimeout> | undefined;
  #keepsAlive = false;

  /** Calls `fire` after `delay` milliseconds, or `MAX_TIMER_MS`. Replaces the previous timer. */
  set(delay: number, fire: () => void): void {
    this.clear();
    this.#handle = setTimeout(fire, Math.min(delay, MAX_TIMER_MS));
    this.#adjust();
  }

  clear(): void {
    clearTimeout(this.#handle);
    this.#handle = undefined;
  }

  /** Sets whether the process should stay alive until the timer fires. */
  keepAlive(isNeeded: boolean): void {
    this.#keepsAlive = isNeeded;
    this.#adjust();
  }

  #adjust(): void {
    // In a browser the handle is a number, and nothing keeps a page alive.
    const handle = this.#handle as Partial<Record<"ref" | "unref", () => void>> | undefined;
    handle?.[this.#keepsAlive ? "ref" : "unref"]?.();
  }
}
