// Bundled into every package that makes clients: build.js puts in that package's name and version.

export function named(options) {
  return { [Symbol.for("pennon.client")]: `${PACKAGE_NAME}/${PACKAGE_VERSION}`, ...options };
}
