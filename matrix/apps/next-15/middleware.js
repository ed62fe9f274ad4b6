// What is called proxy since Next.js 16.
export { proxy as middleware } from "./proxy.js";

export const config = { matcher: "/answer" };
