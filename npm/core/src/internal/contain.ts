/**
 * Calls into code that is not ours and goes on whatever it does: an error that it throws, or that a promise of its brings
 * later, goes to `onError`.
 */
export function contain<T>(call: () => T, onError: (error: unknown) => void): T | undefined {
  try {
    const result = call();
    catchRejection(result, onError);
    return result;
  } catch (error) {
    onError(error);
    return undefined;
  }
}

/** Hands the rejection of a promise to `onError`, also of a promise of another realm or of a library. */
export function catchRejection(result: unknown, onError: (error: unknown) => void): void {
  if (typeof (result as PromiseLike<unknown> | null | undefined)?.then === "function") {
    Promise.resolve(result).catch(onError);
  }
}
