import type { ConsoleMessage, Page } from "@playwright/test";

/**
 * The problems that the browser reports: errors and warnings on the console, uncaught exceptions, and violations of the
 * content security policy.
 */
export class BrowserErrors {
  readonly #all: string[] = [];
  readonly #ignored: RegExp[] = [];

  async listenTo(page: Page): Promise<void> {
    page.on("pageerror", (error) => this.#all.push(error.stack || error.message));
    page.on("console", (message) => this.#record(message));
    await page.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        console.error(`security policy: ${event.violatedDirective} forbids ${event.blockedURI}`);
      });
    });
  }

  /** Ignores errors that a test provokes on purpose. */
  ignore(pattern: RegExp): void {
    this.#ignored.push(pattern);
  }

  get unexpected(): string[] {
    return this.#all.filter((text) => !this.#ignored.some((pattern) => pattern.test(text)));
  }

  #record(message: ConsoleMessage): void {
    if (message.type() === "error" || message.type() === "warning") {
      this.#all.push(`${message.text()} (${message.location().url})`);
    }
  }
}
