// Bundled into every package that creates clients. npm/build.js inserts the name and version of that package.

export function withClientName(options) {
  return { [Symbol.for("pennon.client")]: `${PACKAGE_NAME}/${PACKAGE_VERSION}`, ...options };
}
