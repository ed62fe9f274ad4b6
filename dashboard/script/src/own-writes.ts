/** The address of the one write that a page makes without being left. */
const write = "/dashboard/api/set-enabled";
/** How soon before and after a write of this page its change may be heard of, in milliseconds. */
const before = 100;
const after = 1_000;

/** Knows when this page itself has changed something, of which it then hears like everybody else. */
export class OwnWrites {
  readonly #times: { readonly from: number; readonly to: number }[] = [];

  constructor() {
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as PerformanceResourceTiming[]) {
        if (entry.initiatorType === "fetch" && entry.name.includes(write)) {
          this.#times.push({ from: entry.startTime, to: entry.responseEnd });
        }
      }
    });
    observer.observe({ type: "resource" });
  }

  /** Whether a change that was heard of at this time of the page is likely to be its own. */
  explains(heard: number): boolean {
    return this.#times.some(({ from, to }) => from - before <= heard && heard <= to + after);
  }
}
