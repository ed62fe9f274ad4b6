/** The length of an SDK key's public prefix, which identifies its environment. */
const PUBLIC_PREFIX = 12;

/**
 * Returns the text that identifies the environment of stored flags: the public prefix of its SDK key, and the address
 * of the server.
 */
export function sourceOf(sdkKey: string, baseUrl: string): string {
  return `${sdkKey.slice(0, PUBLIC_PREFIX)} ${baseUrl}`;
}
