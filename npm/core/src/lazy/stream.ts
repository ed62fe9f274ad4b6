import { parseRetryAfter } from "../internal/exchange.js";
import type { TransportStream } from "../transport.js";

/** The maximum length of a line. The server's lines are much shorter. */
const MAX_LINE_LENGTH = 65_536;

/** The receiver of a stream's events. */
export interface StreamListener {
  /**
   * The server has a configuration with this tag, which the client should fetch at a random time within `spreadMs`, if
   * given.
   */
  onEvent(etag: string, spreadMs: number | undefined): void;
  /** The stream has sent data without an event, such as a heartbeat. */
  onAlive(): void;
}

/** The end of a stream. */
export interface StreamEnd {
  /** The status of a refused stream; 0 if it had started. */
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
    // A response that is not a stream is treated as a missing endpoint.
    return {
      status: status === 200 ? 404 : status,
      retryAfterMs: parseRetryAfter(headers.get("Retry-After")),
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
    if (rest.length > MAX_LINE_LENGTH) {
      return;
    }
    const last = lines.map(eventIn).findLast((event) => event !== undefined);
    if (last === undefined) {
      listener.onAlive();
    } else {
      listener.onEvent(last.etag, last.spreadMs);
    }
  }
}

/** Parses a line such as `data: {"etag":"W/\"1\"","spreadMs":2000}`. Each event of the server is one such line. */
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
