import { FeatureFlagsClient, type Snapshot } from "@pennon/core";

/** Says what the server has said, has been ready ever since, and asks nobody. */
export class ServedClient extends FeatureFlagsClient {
  constructor(bootstrap: Snapshot) {
    super({ sdkKey: "none", bootstrap });
  }

  override initialize(): Promise<void> {
    return Promise.resolve();
  }

  override refresh(): Promise<void> {
    return Promise.resolve();
  }

  override isReady(): boolean {
    return true;
  }
}
