import type { FeatureFlagsClient, FeatureFlagsError } from "@pennon/core";

/**
 * The beginning of a client that nobody initialises by hand: as long as it fails, all retries of the client being over, it is
 * tried again every 30 s.
 */
export class Beginning {
  /** `failed` hears of every failure, until `end()`. */
  constructor(client: FeatureFlagsClient, failed?: (error: FeatureFlagsError) => void);

  /** What `initialize()` of the client says this time. */
  begin(): Promise<void>;

  /** Nothing is tried again. The client is left as it is. */
  end(): void;
}
