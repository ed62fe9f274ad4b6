// The middleware, which Next.js 16 renamed to proxy.
export { proxy as middleware } from "./proxy";

export const config = { matcher: "/answer" };
