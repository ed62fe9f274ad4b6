import type { ConsoleMessage, Page } from "@playwright/test";

/**
 * The problems that the browser reports: errors and warnings on the console, uncaught exceptions, and violations of the
 * content security policy.
 */
export class Complaints {
  readonly #all: string[] = [];
  readonly #forgiven: RegExp[] = [];

  async listenTo(page: Page): Promise<void> {
    page.on("pageerror", (error) => this.#all.push(error.stack ?? error.message));
    page.on("console", (message) => this.#hear(message));
    await page.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        console.error(`security policy: ${event.violatedDirective} forbids ${event.blockedURI}`);
      });
    });
  }

  /** Ignores complaints that a test provokes on purpose. */
  forgive(pattern: RegExp): void {
    this.#forgiven.push(pattern);
  }

  get unforgiven(): string[] {
    return this.#all.filter((text) => !this.#forgiven.some((pattern) => pattern.test(text)));
  }

  #hear(message: ConsoleMessage): void {
    if (message.type() === "error" || message.type() === "warning") {
      this.#all.push(`${message.text()} (${message.location().url})`);
    }
  }
}
