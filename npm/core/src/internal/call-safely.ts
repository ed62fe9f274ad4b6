/**
 * Calls code of the application. If it throws, or returns a promise that rejects, calls `onError` with the error and
 * continues.
 */
export function callSafely<T>(call: () => T, onError: (error: unknown) => void): T | undefined {
  try {
    const result = call();
    catchRejection(result, onError);
    return result;
  } catch (error) {
    onError(error);
    return undefined;
  }
}

/** Passes the rejection of a promise to `onError`, including promises of another realm or of a library. */
export function catchRejection(result: unknown, onError: (error: unknown) => void): void {
  if (typeof (result as PromiseLike<unknown> | null | undefined)?.then === "function") {
    Promise.resolve(result).catch(onError);
  }
}
