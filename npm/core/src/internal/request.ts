import type { Settings } from "../options.js";
import type { TransportRequest } from "../transport.js";

/** A request to read something that the service has for holders of an SDK key. */
export function requestFor(
  settings: Settings,
  path: "config" | "stream",
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): TransportRequest {
  return {
    method: "GET",
    url: urlOf(settings, path),
    headers: { ...headersOf(settings), ...headers },
    signal,
  };
}

export function urlOf({ baseUrl }: Settings, path: string): string {
  return `${baseUrl}/sdk/v1/${path}`;
}

/** The headers of every request. */
export function headersOf({ sdkKey, clientName }: Settings): Record<string, string> {
  return {
    Authorization: `Bearer ${sdkKey}`,
    Accept: "application/json",
    "X-Pennon-Client": clientName,
  };
}
