/** The length of the part of an SDK key that is no secret, and names its environment. */
const PUBLIC_PREFIX = 12;

/** The environment that stored flags are of: the public prefix of its SDK key, and the address of the service. */
export function sourceOf(sdkKey: string, baseUrl: string): string {
  return `${sdkKey.slice(0, PUBLIC_PREFIX)} ${baseUrl}`;
}
