// The package with the engine in plain JavaScript, for Node.js: the same client, which loads another file. For browsers
// and their bundlers, scripts/build.js builds a client that does not refer to the WebAssembly at all.

import { FeatureFlagsClient as Client } from "./index.js";

export * from "./index.js";

export class FeatureFlagsClient extends Client {
  protected static override loadEngine = () => import("./engine/client-core.js");
}
