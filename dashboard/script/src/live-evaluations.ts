import { announce, on } from "./dom.ts";

/** The number of evaluations that the list keeps. */
const maxLines = 200;

/** The text after the connection has ended without a reason. */
const lost = "Stopped: the connection was lost, or your session or your role has changed.";

/** The text if another server has answered in place of Pennon. */
const unreachable = "Pennon cannot be reached. Try again.";

/** An evaluation without the values of its context. */
type Evaluation = {
  readonly at: string;
  /** The key of the flag. */
  readonly flag: string;
  readonly enabled: boolean;
  readonly reason: string;
  /** The built-in attributes of the context. */
  readonly attributes: readonly string[];
  /** The number of custom attributes. */
  readonly customAttributes: number;
};

/** Evaluations that arrive together, and the number of others that were skipped before. */
type Evaluations = { readonly evaluations: readonly Evaluation[]; readonly skipped: number };

/** An event of a stream. */
type StreamEvent = { readonly name: string; readonly data: string };

/** Ends the stream that is open. */
let stop: (() => void) | undefined;

/** Shows the evaluations of the server from a click on the button until the next one. */
export function listenToEvaluations(): void {
  on("click", "[data-evaluations] button", (button) => {
    const section = button.closest<HTMLElement>("[data-evaluations]");
    if (stop !== undefined) {
      stop();
    } else if (section !== null) {
      void show(section, button);
    }
  });
}

async function show(section: HTMLElement, button: HTMLElement): Promise<void> {
  const stopping = new AbortController();
  stop = () => stopping.abort();
  const list = new EvaluationList(section);
  button.textContent = "Stop";
  button.classList.remove("primary");
  list.showStatus("Connecting…");
  const outcome = await receive(section.dataset.evaluations ?? "", stopping.signal, list);
  stop = undefined;
  button.textContent = "Start";
  button.classList.add("primary");
  list.showStatus(outcome);
  announce(outcome);
}

/** Adds the evaluations of a stream to a list. Returns the reason for its end, as a sentence. */
async function receive(url: string, signal: AbortSignal, list: EvaluationList): Promise<string> {
  try {
    const response = await fetch(url, { signal, headers: { accept: "text/event-stream, */*" } });
    if (!response.ok || response.body === null) {
      // A proxy may have sent its own page instead.
      const isRefusal = response.headers.get("content-type")?.startsWith("text/plain");
      return isRefusal ? await response.text() : unreachable;
    }
    // The server watches from now on.
    list.showStatus("Live.");
    announce("Live.");
    for await (const { name, data } of eventsOf(response.body)) {
      if (name === "ended") {
        return "Stopped after 10 minutes.";
      }
      list.add(JSON.parse(data));
    }
    return lost;
  } catch {
    return signal.aborted ? "Stopped." : lost;
  }
}

/** Returns the events of a stream. An `EventSource` would reconnect, and hides the text of a refusal. */
async function* eventsOf(body: ReadableStream<BufferSource>): AsyncGenerator<StreamEvent> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      const blocks = `${rest}${value}`.split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const [, name, data] = /^event: (.*)\ndata: ?(.*)$/.exec(block) ?? [];
        // The other blocks only keep the stream open.
        if (name !== undefined && data !== undefined) {
          yield { name, data };
        }
      }
    }
  } finally {
    // The server allows a limited number of open streams.
    reader.cancel().catch(() => {});
  }
}

/** The evaluations on the page, newest first. */
class EvaluationList {
  readonly #section: HTMLElement;
  readonly #lines: HTMLTableSectionElement | null;
  readonly #template: Element | null | undefined;
  #status = "";
  #shown = 0;
  #skipped = 0;

  /** Clears the list. */
  constructor(section: HTMLElement) {
    this.#section = section;
    this.#lines = section.querySelector("tbody");
    this.#template = section.querySelector("template")?.content.firstElementChild;
    this.#lines?.replaceChildren();
    this.#showList();
  }

  add({ evaluations, skipped }: Evaluations): void {
    for (const evaluation of evaluations) {
      this.#lines?.prepend(this.#line(evaluation));
    }
    for (const line of [...(this.#lines?.rows ?? [])].slice(maxLines)) {
      line.remove();
    }
    if (this.#shown === 0) {
      announce("The first evaluation has arrived.");
    }
    this.#shown += evaluations.length;
    this.#skipped += skipped;
    this.#showList();
    this.showStatus(this.#status);
  }

  /** Shows a sentence and the numbers of evaluations. */
  showStatus(status: string): void {
    this.#status = status;
    const sentences = [status];
    if (this.#skipped > 0) {
      const total = format(this.#shown + this.#skipped);
      sentences.push(
        `Showing ${format(this.#shown)} of ${total} evaluations, at most 20 per second.`,
      );
    } else if (this.#shown > 0) {
      const noun = this.#shown === 1 ? "evaluation" : "evaluations";
      sentences.push(`${format(this.#shown)} ${noun}.`);
    }
    if (this.#shown > maxLines) {
      sentences.push(`The list has the newest ${maxLines}.`);
    }
    this.#section.querySelector("[data-status]")?.replaceChildren(sentences.join(" "));
  }

  #showList(): void {
    for (const [selector, isHidden] of [
      ["[data-none]", this.#shown > 0],
      ["[data-some]", this.#shown === 0],
    ] as const) {
      const part = this.#section.querySelector<HTMLElement>(selector);
      if (part !== null) {
        part.hidden = isHidden;
      }
    }
  }

  #line(evaluation: Evaluation): Node {
    const line = (this.#template?.cloneNode(true) ?? document.createElement("tr")) as Element;
    const time = line.querySelector("time");
    if (time !== null) {
      time.dateTime = evaluation.at;
      time.title = evaluation.at;
      time.textContent = new Date(evaluation.at).toLocaleTimeString("en", { hourCycle: "h23" });
    }
    const flag = line.querySelector("a");
    if (flag !== null) {
      flag.setAttribute(
        "href",
        (flag.getAttribute("href") ?? "").replace("{key}", evaluation.flag),
      );
      flag.firstElementChild?.replaceChildren(evaluation.flag);
    }
    keep(line, "data-enabled", String(evaluation.enabled));
    keep(line, "data-reason", evaluation.reason);
    line.querySelector(".live-context")?.append(...contextOf(evaluation));
    return line;
  }
}

/** Removes the elements with another value of an attribute. */
function keep(line: Element, attribute: string, value: string): void {
  for (const element of line.querySelectorAll(`[${attribute}]`)) {
    if (element.getAttribute(attribute) !== value) {
      element.remove();
    }
  }
}

/** Returns the names of the built-in attributes, and the number of the others. */
function contextOf({ attributes, customAttributes }: Evaluation): (string | Node)[] {
  const names = attributes.flatMap((attribute) => {
    const name = document.createElement("code");
    name.textContent = attribute;
    return [" ", name];
  });
  if (customAttributes > 0) {
    const sum = `${customAttributes}\u00a0custom`;
    return names.length > 0 ? [...names, ` +\u00a0${sum}`] : [sum];
  }
  return names.length > 0 ? names : ["Empty"];
}

function format(count: number): string {
  return count.toLocaleString("en");
}
