import { Builder, By, error, Key, type WebDriver, type WebElement } from "selenium-webdriver";
import LogInspector from "selenium-webdriver/bidi/logInspector.js";
import type { Account } from "../../support/api.ts";
import type { Browser } from "./drivers.ts";

declare global {
  interface Window {
    /** Uncaught errors since the page was ready, for browsers that cannot report them. */
    uncaughtErrors?: string[];
  }
}

const timeout = 15_000;

/** A browser with one page and its own profile. */
export class Page {
  readonly #driver: WebDriver;
  readonly #baseUrl: string;
  readonly #hasBidi: boolean;
  readonly #uncaughtErrors: string[] = [];

  private constructor(driver: WebDriver, baseUrl: string, hasBidi: boolean) {
    this.#driver = driver;
    this.#baseUrl = baseUrl;
    this.#hasBidi = hasBidi;
  }

  static async start(browser: Browser, baseUrl: string): Promise<Page> {
    const { capabilities } = browser;
    const driver = await new Builder()
      .usingServer(browser.driver)
      .withCapabilities(capabilities)
      .build();
    await driver.manage().window().setRect({ x: 0, y: 0, width: 1280, height: 900 });
    const page = new Page(driver, baseUrl, capabilities.webSocketUrl === true);
    if (page.#hasBidi) {
      const inspector = await LogInspector(driver);
      await inspector.onJavascriptException(({ text }: { text: string }) =>
        page.#uncaughtErrors.push(text),
      );
    }
    return page;
  }

  async close(): Promise<void> {
    await this.#driver.quit();
  }

  async open(path: string): Promise<void> {
    await this.#driver.get(`${this.#baseUrl}${path}`);
  }

  async reload(): Promise<void> {
    await this.#driver.navigate().refresh();
  }

  async goBack(): Promise<void> {
    await this.#driver.navigate().back();
  }

  /** Returns the path of the page's address. */
  async path(): Promise<string> {
    return new URL(await this.#driver.getCurrentUrl()).pathname;
  }

  async waitForPath(path: string): Promise<void> {
    await this.#driver.wait(async () => (await this.path()) === path, timeout, `went to ${path}`);
  }

  /** Signs in on the sign-in page. */
  async signIn({ email, password }: Account): Promise<void> {
    await this.type("input[type=email]", email);
    await this.type("input[type=password]", password);
    await this.click(button("Sign in"));
  }

  /** Opens a page that needs a session, and waits until its scripts run. */
  async openSignedIn(path: string, account: Account): Promise<void> {
    await this.open(path);
    await this.signIn(account);
    await this.waitForPath(new URL(path, this.#baseUrl).pathname);
    await this.ready();
  }

  /** Waits until the page's scripts handle its events. */
  async ready(): Promise<void> {
    await this.find(":root[data-scripts]");
    if (!this.#hasBidi) {
      await this.run(() => {
        const errors: string[] = [];
        window.uncaughtErrors ??= errors;
        addEventListener("error", ({ message }) => errors.push(message));
        addEventListener("unhandledrejection", ({ reason }) => errors.push(String(reason)));
      });
    }
  }

  /**
   * Returns the uncaught errors of all pages if the driver reports them, or else those of the current page since it was
   * ready.
   */
  async uncaughtErrors(): Promise<readonly string[]> {
    const inPage = await this.run(() => window.uncaughtErrors ?? []);
    return [...this.#uncaughtErrors, ...inPage];
  }

  /** Returns the element that a CSS selector or a locator finds, once it is visible. */
  async find(target: string | By): Promise<WebElement> {
    const by = typeof target === "string" ? By.css(target) : target;
    const visible = async () => {
      const [element] = await this.#driver.findElements(by);
      return element !== undefined && (await element.isDisplayed()) ? element : undefined;
    };
    const found = await this.#driver.wait(() => visible().catch(unlessStale), timeout, `${by}`);
    return found as WebElement;
  }

  async click(target: string | By): Promise<void> {
    // A live change may replace the element between the two commands.
    const clicked = async () => {
      await (await this.find(target)).click();
      return true;
    };
    await this.#driver.wait(() => clicked().catch(unlessStale), timeout, `clicked ${target}`);
  }

  /** Replaces the text of a field, key by key. */
  async type(target: string | By, text: string): Promise<void> {
    // Clearing a field takes the focus from it, so a live change may replace it before the text arrives.
    const typed = async () => {
      const field = await this.find(target);
      await field.clear();
      await field.sendKeys(text);
      return true;
    };
    await this.#driver.wait(() => typed().catch(unlessStale), timeout, `typed into ${target}`);
  }

  async choose(select: string, value: string): Promise<void> {
    await this.click(`${select} option[value="${value}"]`);
  }

  /** Presses a key in the focused element, with modifier keys held down. */
  async press(key: string, ...modifiers: readonly string[]): Promise<void> {
    const actions = this.#driver.actions();
    modifiers.forEach((modifier) => void actions.keyDown(modifier));
    actions.sendKeys(key);
    modifiers.forEach((modifier) => void actions.keyUp(modifier));
    await actions.perform();
  }

  /** Returns the text of the first element that a CSS selector finds, or an empty string if there is none. */
  text(selector: string): Promise<string> {
    return this.run(
      (selector) => document.querySelector<HTMLElement>(selector)?.innerText.trim() ?? "",
      selector,
    );
  }

  attribute(selector: string, name: string): Promise<string | null> {
    return this.run(
      (selector, name) => document.querySelector(selector)?.getAttribute(name) ?? null,
      selector,
      name,
    );
  }

  /** Runs a function in the page. The function can access only its arguments and the page. */
  run<T, A extends readonly unknown[]>(script: (...args: A) => T, ...args: A): Promise<T> {
    return this.#driver.executeScript(`return (${script})(...arguments)`, ...args);
  }

  /** Returns a screenshot of the visible part of the page, in PNG format. */
  async screenshot(): Promise<Buffer> {
    return Buffer.from(await this.#driver.takeScreenshot(), "base64");
  }
}

export { Key };

/** Locates the last button with this text, because a form may begin with a hidden button for the Enter key. */
export function button(text: string): By {
  return By.xpath(`(//button[normalize-space()=${JSON.stringify(text)}])[last()]`);
}

export function link(text: string): By {
  return By.xpath(`//a[normalize-space()=${JSON.stringify(text)}]`);
}

/** Lets a wait continue after an element was replaced. */
function unlessStale(reason: unknown): undefined {
  if (!(reason instanceof error.StaleElementReferenceError)) {
    throw reason;
  }
}
