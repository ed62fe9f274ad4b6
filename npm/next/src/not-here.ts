// What `@pennon/next/server` is for code that goes to the browser: nothing, so that it cannot be built.

throw new Error(
  "@pennon/next/server is for server components, route handlers, server actions and the proxy: in client components use the hooks of @pennon/next/client",
);

export {};
