/**
 * The flags that there are, by key, if an application wants a misspelt key to be an error when it is compiled. Packages for
 * frameworks, such as `@pennon/react`, then take no other key; the client itself takes any.
 *
 * ```ts
 * declare module "@pennon/core" {
 *   interface RegisteredFlags {
 *     new_checkout: boolean;
 *   }
 * }
 * ```
 */
// biome-ignore lint/suspicious/noEmptyInterface: applications add the members.
export interface RegisteredFlags {}

/** The key of a flag: one of those that are registered, or any string where none are. */
export type FlagKey = [keyof RegisteredFlags] extends [never] ? string : keyof RegisteredFlags;
