/** Throws, because this entry was loaded outside of server components. Tests replace it with `mock`. */
export function rejectEntry(entry: string, mock: string): never {
  throw new Error(
    `${entry} is for server components, route handlers, server actions and the proxy: in client components use the hooks of @pennon/next/client, and in tests put ${mock} in its place`,
  );
}
