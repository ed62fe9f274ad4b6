import type { Settings } from "../options.js";
import type { TransportRequest } from "../transport.js";

/** A request to read something that the service has for holders of an SDK key. */
export function requestFor(
  { baseUrl, sdkKey }: Settings,
  path: "config" | "stream",
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): TransportRequest {
  return {
    method: "GET",
    url: `${baseUrl}/sdk/v1/${path}`,
    headers: { Authorization: `Bearer ${sdkKey}`, Accept: "application/json", ...headers },
    signal,
  };
}
