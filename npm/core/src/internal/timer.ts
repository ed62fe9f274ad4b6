/** A timer that keeps a Node.js process alive only on demand. */
export class Timer {
  #handle: ReturnType<typeof setTimeout> | undefined;
  #keepsAlive = false;

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
