// Bundled into every package that depends on `@pennon/core`. npm/build.js inserts the name and version of that package.

import { VERSION } from "@pennon/core";

export function requireSameVersion() {
  if (VERSION !== PACKAGE_VERSION) {
    throw new Error(
      `${PACKAGE_NAME} ${PACKAGE_VERSION} needs @pennon/core ${PACKAGE_VERSION}, but found ${VERSION}. Install the same version of both.`,
    );
  }
}
