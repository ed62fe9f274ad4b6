/** Throws, because this entry was loaded outside of server components. Tests replace it with `mock`. */
export function rejectEntry(entry: string, mock: string): never {
  throw new Error(
    `${entry} works only in server components, route handlers, server actions and the proxy. In client components, use the hooks of @pennon/next/client. In tests, mock it with ${mock}.`,
  );
}
