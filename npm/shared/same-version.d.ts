/** Throws if the core has another version. The packages are released together and rely on each other's internals. */
export function requireSameVersion(): void;
