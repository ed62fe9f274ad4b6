import { milliseconds } from "../internal/reply.js";
import type { TransportStream } from "../transport.js";

/** No line of the service's is nearly as long. */
const LONGEST_LINE = 65_536;

/** What a stream says. */
export interface StreamListener {
  /** The service has the configuration of this tag. */
  told(etag: string): void;
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
    const tags = lines.map(tagIn).filter((tag) => tag !== undefined);
    const last = tags.at(-1);
    if (last === undefined) {
      listener.alive();
    } else {
      listener.told(last);
    }
  }
}

/** The tag in a line such as `data: {"etag":"W/\"1\""}`. The service's events have one such line, and nothing else counts. */
function tagIn(line: string): string | undefined {
  if (!line.startsWith("data:")) {
    return undefined;
  }
  try {
    const { etag } = JSON.parse(line.slice(5));
    return typeof etag === "string" ? etag : undefined;
  } catch {
    return undefined;
  }
}
