import { invalidOptions } from "../errors.js";
import type { Snapshot, SubjectFlag } from "../snapshot.js";

/** A validated bootstrap. */
export interface Bootstrap {
  readonly snapshot?: Snapshot;
  /** The text of the config document to start with. */
  readonly configuration?: string | undefined;
}

/** Validates the option `bootstrap`. Throws `INVALID_OPTIONS`. */
export function parseBootstrap(given: unknown): Bootstrap {
  if (given == null) {
    return {};
  }
  if (typeof given === "string") {
    return { configuration: configurationText(given) };
  }
  const { version, flags, subject, config } = given as Partial<Snapshot>;
  if (version === undefined && Array.isArray(flags)) {
    return { configuration: convert(given, JSON.stringify) };
  }
  if (!areFlags(flags) || !(subject === undefined || areFlags(subject?.flags))) {
    throw invalidOptions(
      "bootstrap must be the result of client.snapshot(), or the body of GET /sdk/v1/config as an object or as text",
    );
  }
  if (version !== 1) {
    throw invalidOptions(
      "bootstrap is a snapshot of another version of @pennon/core. Use the same version on both sides.",
    );
  }
  return {
    snapshot: given as Snapshot,
    // A backend in another language may write an absent configuration as null.
    configuration: config ? convert(config, JSON.stringify) : undefined,
  };
}

/** Validates the text of a config document. */
function configurationText(text: string): string {
  const parsed: Partial<Snapshot> | null = convert(text, JSON.parse);
  if (parsed?.version !== undefined) {
    throw invalidOptions("bootstrap is a snapshot as text. Parse it with JSON.parse() first.");
  }
  if (!Array.isArray(parsed?.flags)) {
    throw invalidOptions(
      "bootstrap is JSON text, but has no flags. Pass the body of GET /sdk/v1/config.",
    );
  }
  return text;
}

/** Converts a bootstrap from or to JSON. */
function convert<Given, Result>(given: Given, by: (given: Given) => Result): Result {
  try {
    return by(given);
  } catch (cause) {
    throw invalidOptions(`bootstrap is not JSON (${cause}). Pass the body of GET /sdk/v1/config.`);
  }
}

function areFlags(flags: readonly Partial<SubjectFlag>[] | undefined): boolean {
  return (
    Array.isArray(flags) &&
    flags.every((flag) => typeof flag?.key === "string" && typeof flag.enabled === "boolean")
  );
}
