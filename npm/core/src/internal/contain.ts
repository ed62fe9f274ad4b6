/**
 * Calls into code that is not ours and goes on whatever it does: an error that it throws, or that a promise of its brings
 * later, goes to `onError`.
 */
export function contain<T>(call: () => T, onError: (error: unknown) => void): T | undefined {
  try {
    const result = call();
    if (result instanceof Promise) {
      result.catch(onError);
    }
    return result;
  } catch (error) {
    onError(error);
    return undefined;
  }
}
