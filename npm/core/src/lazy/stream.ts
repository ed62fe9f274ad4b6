import { milliseconds } from "../internal/exchange.js";
import type { TransportStream } from "../transport.js";

/** No line of the service's is nearly as long. */
const LONGEST_LINE = 65_536;

/** What a stream says. */
export interface StreamListener {
  /** The service has the configuration of this tag, and may have said within how many milliseconds to fetch it. */
  told(etag: string, spreadMs: number | undefined): void;
  /** The stream is alive. */
  alive(): void;
}

/** How a stream ended. */
export interface StreamEnd {
  /** The status with which it was refused; 0 if it had begun. */
  readonly status: number;
  readonly retryAfterMs: number | undefined;
}

/** Reads a stream of changes to its end. */
export async function follow(
  { status, headers, body }: TransportStream,
  listener: StreamListener,
): Promise<StreamEnd> {
  const isStream =
    status === 200 && body && /^text\/event-stream/i.test(headers.get("Content-Type") ?? "");
  if (!isStream) {
    await body?.cancel();
    // An answer that is no stream is as good as none at this address.
    return {
      status: status === 200 ? 404 : status,
      retryAfterMs: milliseconds(headers.get("Retry-After")),
    };
  }
  const reader = body.getReader();
  try {
    await read(reader, listener);
  } finally {
    reader.cancel().catch(() => {});
  }
  return { status: 0, retryAfterMs: undefined };
}

async function read(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  listener: StreamListener,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      return;
    }
    const lines = (rest + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r/);
    rest = lines.pop() ?? "";
    if (rest.length > LONGEST_LINE) {
      return;
    }
    const last = lines.map(eventIn).findLast((event) => event !== undefined);
    if (last === undefined) {
      listener.alive();
    } else {
      listener.told(last.etag, last.spreadMs);
    }
  }
}

/** What a line such as `data: {"etag":"W/\"1\"","spreadMs":2000}` says. The service's events have one such line each. */
function eventIn(
  line: string,
): { readonly etag: string; readonly spreadMs: number | undefined } | undefined {
  if (!line.startsWith("data:")) {
    return undefined;
  }
  try {
    const { etag, spreadMs } = JSON.parse(line.slice(5));
    return typeof etag === "string"
      ? { etag, spreadMs: Number.isFinite(spreadMs) ? spreadMs : undefined }
      : undefined;
  } catch {
    return undefined;
  }
}
