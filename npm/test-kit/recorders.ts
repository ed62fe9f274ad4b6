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

/** Collects the events of a client by type; a change with its keys. */
export function eventsOf(client: FeatureFlagsClient): string[] {
  const events: string[] = [];
  for (const type of EVENTS) {
    client.on(type, (event) => {
      events.push(event.type === "change" ? `change ${event.flags.join(" ")}` : event.type);
    });
  }
  return events;
}

/** A logger that collects messages, each with its level in front. */
export class LogRecorder implements Logger {
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
