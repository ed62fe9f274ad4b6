// Bundled into every package that stands on `@pennon/core`: build.js puts in that package's name and version.

import { VERSION } from "@pennon/core";

export function requireSameVersion() {
  if (VERSION !== PACKAGE_VERSION) {
    throw new Error(
      `${PACKAGE_NAME} ${PACKAGE_VERSION} needs @pennon/core ${PACKAGE_VERSION} and found ${VERSION}: install the same version of both`,
    );
  }
}
