import type { FeatureFlagsClient, Logger } from "@pennon/core";

const EVENTS = [
  "ready",
  "refresh:start",
  "refresh:success",
  "refresh:error",
  "change",
  "engine:error",
  "shutdown",
] as const;

/** Every event of a client from now on, by type; a change with the keys. */
export function eventsOf(client: FeatureFlagsClient): string[] {
  const events: string[] = [];
  for (const type of EVENTS) {
    client.on(type, (event) => {
      events.push(event.type === "change" ? `change ${event.flags.join(" ")}` : event.type);
    });
  }
  return events;
}

/** A logger that remembers what was said, each line beginning with its level. */
export class Journal implements Logger {
  readonly lines: string[] = [];

  debug(): void {}

  info(message: string): void {
    this.lines.push(`info: ${message}`);
  }

  warn(message: string): void {
    this.lines.push(`warn: ${message}`);
  }

  error(message: string): void {
    this.lines.push(`error: ${message}`);
  }
}
