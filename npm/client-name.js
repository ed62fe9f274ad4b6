// Bundled into every package that creates clients. build.js inserts the name and version of that package.

export function named(options) {
  return { [Symbol.for("pennon.client")]: `${PACKAGE_NAME}/${PACKAGE_VERSION}`, ...options };
}
