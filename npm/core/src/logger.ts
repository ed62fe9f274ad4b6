import { callSafely } from "./internal/call-safely.js";

/** A receiver of the client's log messages. */
export interface Logger {
  debug(message: string, meta?: unknown): void;
  info(message: string, meta?: unknown): void;
  warn(message: string, meta?: unknown): void;
  error(message: string, meta?: unknown): void;
}

/** The default logger, which discards all messages. */
export const noopLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
};

/** Writes to the console. `debug` is silent if `NODE_ENV` is `production`. */
export const consoleLogger: Logger = {
  debug(message, meta) {
    if (!isProduction()) {
      write("debug", message, meta);
    }
  },
  info: (message, meta) => write("info", message, meta),
  warn: (message, meta) => write("warn", message, meta),
  error: (message, meta) => write("error", message, meta),
};

/**
 * Wraps a logger so that it cannot fail. Drops its errors, which cannot be logged anywhere. Does not wrap `noopLogger`.
 * @internal
 */
export function safeLogger(logger: Logger): Logger {
  if (logger === noopLogger) {
    return logger;
  }
  const safely =
    (level: Level) =>
    (message: string, meta?: unknown): void => {
      callSafely(
        () => logger[level](message, meta),
        () => {},
      );
    };
  return {
    debug: safely("debug"),
    info: safely("info"),
    warn: safely("warn"),
    error: safely("error"),
  };
}

type Level = keyof Logger;

function write(level: Level, message: string, meta: unknown): void {
  const line = `[pennon] ${message}`;
  if (meta === undefined) {
    console[level](line);
  } else {
    console[level](line, meta);
  }
}

/**
 * Returns true in a production build. Bundlers replace `process.env.NODE_ENV`. Reading it fails in a page without a
 * bundler, which has no `process` or one without `env`, and in Deno without `--allow-env`.
 */
function isProduction(): boolean {
  try {
    return process.env.NODE_ENV === "production";
  } catch {
    return false;
  }
}

declare const process: { readonly env: { readonly NODE_ENV?: string } };
