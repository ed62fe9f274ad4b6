// What the entries for servers are for code that goes to the browser: nothing, so that it cannot be built.

throw new Error(
  "@pennon/next/server and @pennon/next/flags are for server components, route handlers, server actions and the proxy: in client components use the hooks of @pennon/next/client",
);

export {};
