// @vitest-environment jsdom
import { type FeatureFlagsClient, type Snapshot, VERSION } from "@pennon/core";
import {
  FeatureFlagsProvider,
  useFeatureFlagsClient,
  useFlag,
  useFlagDetails,
  useFlagsStatus,
  useSuspenseFlag,
} from "@pennon/next/client";
import { act, type ReactNode } from "react";
import { hydrateRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { readyClient } from "../../test-kit/clients.ts";
import {
  configuration,
  flag,
  flagWithRule,
  held,
  optionsFor,
  ScriptedServer,
} from "../../test-kit/scripted.ts";

const refresh = vi.hoisted(() => vi.fn());
const router = vi.hoisted(() => ({ refresh }));
vi.mock("next/navigation.js", () => ({ useRouter: () => router }));

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

/** Returns the bootstrap for a context with this country, as a page receives it. */
async function snapshot(country: string, banner = true): Promise<Snapshot> {
  const server = new ScriptedServer(
    configuration([flag("banner", banner), flagWithRule("ruled", "FR")]),
  );
  const client = await readyClient(server);
  return JSON.parse(JSON.stringify(client.withContext({ country }).snapshot()));
}

const renders: string[] = [];

function Flags() {
  const text = `banner ${useFlag("banner")}, ruled ${useFlag("ruled")}`;
  renders.push(text);
  return <p>{text}</p>;
}

/** Renders on a server, and hydrates the result in a page. */
async function hydrated(element: ReactNode) {
  const complained = vi.spyOn(console, "error");
  const container = document.createElement("div");
  container.innerHTML = renderToString(element);
  const html = container.textContent;
  const complaints: unknown[] = [];
  renders.length = 0;
  const root = await act(async () =>
    hydrateRoot(container, element, { onRecoverableError: (error) => complaints.push(error) }),
  );
  onTestFinished(() => act(async () => root.unmount()));
  expect(complaints).toEqual([]);
  expect(complained).not.toHaveBeenCalled();
  complained.mockRestore();
  return {
    html,
    text: () => container.textContent,
    rerender: (other: ReactNode) => act(async () => root.render(other)),
  };
}

describe("a page without a key", () => {
  it("shows the server's evaluations from the first render on", async () => {
    const page = await hydrated(
      <FeatureFlagsProvider bootstrap={await snapshot("FR")}>
        <Flags />
      </FeatureFlagsProvider>,
    );
    expect(page.html).toBe("banner true, ruled false");
    expect(new Set([page.text(), ...renders])).toEqual(new Set([page.html]));
  });

  it("shows the server's next evaluations, for another context too", async () => {
    const page = await hydrated(
      <FeatureFlagsProvider bootstrap={await snapshot("FR")}>
        <Flags />
      </FeatureFlagsProvider>,
    );
    await page.rerender(
      <FeatureFlagsProvider bootstrap={await snapshot("DE", false)}>
        <Flags />
      </FeatureFlagsProvider>,
    );
    expect(page.text()).toBe("banner false, ruled true");
  });

  it("neither waits nor sends requests", async () => {
    const fetched = vi.spyOn(globalThis, "fetch");
    let client: FeatureFlagsClient | undefined;
    function Everything() {
      client = useFeatureFlagsClient();
      const { loading } = useFlagDetails("unknown");
      return <p>{`${useSuspenseFlag("unknown", true)} ${loading} ${useFlagsStatus().ready}`}</p>;
    }
    const page = await hydrated(
      <FeatureFlagsProvider bootstrap={await snapshot("FR")}>
        <Everything />
      </FeatureFlagsProvider>,
    );
    expect(page.text()).toBe("true false true");
    await client?.initialize();
    await client?.refresh();
    expect(fetched).not.toHaveBeenCalled();
    fetched.mockRestore();
  });
});

describe("a page with a stream", () => {
  /** The connections that pages have opened. */
  const opened: Events[] = [];

  class Events {
    static readonly CLOSED = 2;
    readonly url: string;
    readonly close = vi.fn();
    readyState = 0;
    onmessage: (event: { data: string }) => void = () => {};
    onerror = () => {};

    constructor(url: string) {
      this.url = url;
      opened.push(this);
    }

    /** Fails as after a response that is not a stream: the browser does not reconnect. */
    refuse() {
      this.readyState = Events.CLOSED;
      this.onerror();
    }
  }

  beforeEach(() => {
    opened.length = 0;
    refresh.mockClear();
    vi.stubGlobal("EventSource", Events);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
  });

  const page = (snapshot: Snapshot) => (
    <FeatureFlagsProvider bootstrap={snapshot} stream="/flags">
      <Flags />
    </FeatureFlagsProvider>
  );

  it("has the server render again when its flags differ from those shown", async () => {
    const shown = await snapshot("FR");
    const { rerender, text } = await hydrated(page(shown));
    expect(opened.map(({ url }) => url)).toEqual(["/flags"]);
    opened[0]?.onmessage({ data: JSON.stringify(shown) });
    expect(refresh).not.toHaveBeenCalled();
    const next = await snapshot("FR", false);
    opened[0]?.onmessage({ data: JSON.stringify(next) });
    expect(refresh).toHaveBeenCalledOnce();
    await rerender(page(next));
    expect(text()).toBe("banner false, ruled false");
    opened[0]?.onmessage({ data: JSON.stringify(next) });
    expect(refresh).toHaveBeenCalledOnce();
  });

  it("is rendered again if it then shows an earlier message", async () => {
    vi.useFakeTimers();
    const [on, off] = [await snapshot("FR"), await snapshot("FR", false)];
    const { rerender, text } = await hydrated(page(on));
    const [events] = opened;
    events?.onmessage({ data: JSON.stringify(off) });
    events?.onmessage({ data: JSON.stringify(on) });
    expect(refresh).toHaveBeenCalledOnce();
    await rerender(page(off));
    vi.advanceTimersByTime(2_000);
    expect(refresh).toHaveBeenCalledTimes(2);
    await rerender(page(on));
    expect(text()).toBe("banner true, ruled false");
    vi.advanceTimersByTime(60_000);
    expect(refresh).toHaveBeenCalledTimes(2);
  });

  it("connects once, and again for another context", async () => {
    const { rerender } = await hydrated(page(await snapshot("FR")));
    await rerender(page(await snapshot("FR", false)));
    expect(opened).toHaveLength(1);
    await rerender(page(await snapshot("DE")));
    expect(opened.map(({ close }) => close.mock.calls.length)).toEqual([1, 0]);
  });

  it("connects again after it was refused, later each time until it receives a message", async () => {
    vi.useFakeTimers();
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    const shown = await snapshot("FR");
    await hydrated(page(shown));
    const connectsAfter = async (milliseconds: number) => {
      const count = opened.length;
      opened.at(-1)?.refuse();
      await vi.advanceTimersByTimeAsync(milliseconds - 1);
      expect(opened).toHaveLength(count);
      await vi.advanceTimersByTimeAsync(1);
      expect(opened).toHaveLength(count + 1);
    };
    for (const seconds of [3, 6, 12, 24, 45, 45]) {
      await connectsAfter(seconds * 1_000);
    }
    const off = JSON.stringify(await snapshot("FR", false));
    opened.at(-1)?.onmessage({ data: off });
    expect(refresh).toHaveBeenCalled();
    await connectsAfter(3_000);
  });

  it("leaves it to the browser to connect again after a lost connection", async () => {
    vi.useFakeTimers();
    await hydrated(page(await snapshot("FR")));
    opened[0]?.onerror();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(opened).toHaveLength(1);
  });

  it("stays closed if it is unmounted after it was refused", async () => {
    vi.useFakeTimers();
    const { rerender } = await hydrated(page(await snapshot("FR")));
    opened[0]?.refuse();
    await rerender(null);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(opened).toHaveLength(1);
  });

  it("closes its connection and refreshes nothing more when it is unmounted", async () => {
    vi.useFakeTimers();
    const { rerender } = await hydrated(page(await snapshot("FR")));
    opened[0]?.onmessage({ data: JSON.stringify(await snapshot("FR", false)) });
    await rerender(null);
    vi.advanceTimersByTime(60_000);
    expect(refresh).toHaveBeenCalledOnce();
    expect(opened.map(({ close }) => close.mock.calls.length)).toEqual([1]);
  });
});

describe("a page with a key of its own", () => {
  it("starts with the server's evaluations, for the same context", async () => {
    const options = optionsFor(new ScriptedServer(held().answer));
    const page = await hydrated(
      <FeatureFlagsProvider bootstrap={await snapshot("FR")} options={options}>
        <Flags />
      </FeatureFlagsProvider>,
    );
    expect(page.html).toBe("banner true, ruled false");
    expect(new Set([page.text(), ...renders])).toEqual(new Set([page.html]));
  });

  it("names this package in its requests", async () => {
    const server = new ScriptedServer(configuration([flag("banner")]));
    await hydrated(
      <FeatureFlagsProvider bootstrap={await snapshot("FR")} options={optionsFor(server)}>
        <Flags />
      </FeatureFlagsProvider>,
    );
    await server.requested(1);
    expect(server.requests[0]?.headers["X-Pennon-Client"]).toBe(`@pennon/next/${VERSION}`);
  });

  it("switches to newer flags, for the same context", async () => {
    const newer = configuration([flag("banner", false), flagWithRule("ruled", "FR")]);
    const page = await hydrated(
      <FeatureFlagsProvider
        bootstrap={await snapshot("FR")}
        options={optionsFor(new ScriptedServer(newer))}
      >
        <Flags />
      </FeatureFlagsProvider>,
    );
    await vi.waitFor(() => expect(page.text()).toBe("banner false, ruled false"));
  });
});
