/** Throws if the core is of another version: the packages are released together and know each other's inside. */
export function requireSameVersion(): void;
