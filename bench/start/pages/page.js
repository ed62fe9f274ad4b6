// The code that all pages share. The stand-in writes the settings into the document.

const { service, sdkKey } = document.documentElement.dataset;

export { sdkKey, service };

/** The flag whose answer is awaited, and a user who matches its rule. */
export const FLAG = "feature-050";
export const USER = { key: "user-1", country: "DE", plan: "premium" };

/** Records the time since the navigation at which the answer was known. */
export function answer(isOn) {
  globalThis.answer = { isOn, after: performance.now() };
}
