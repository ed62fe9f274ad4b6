/** The client that is meant where none is named. */
export const DEFAULT = "default";

/** What the modules provide for a client: texts, so that the package means the same by `import` and by `require`. */
export const optionsToken = (name: string) => `@pennon/nest:options:${name}`;
export const connectionToken = (name: string) => `@pennon/nest:connection:${name}`;
export const clientToken = (name: string) => `@pennon/nest:client:${name}`;
export const requestToken = (name: string) => `@pennon/nest:request:${name}`;
