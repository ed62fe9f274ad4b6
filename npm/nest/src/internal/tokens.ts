/** The name of the client that the application does not name. */
export const DEFAULT = "default";

/** The injection tokens of a client. They are strings, so that they are equal across `import` and `require`. */
export const optionsToken = (name: string) => `@pennon/nest:options:${name}`;
export const lifecycleToken = (name: string) => `@pennon/nest:lifecycle:${name}`;
export const clientToken = (name: string) => `@pennon/nest:client:${name}`;
export const evaluatorToken = (name: string) => `@pennon/nest:evaluator:${name}`;
export const requestToken = (name: string) => `@pennon/nest:request:${name}`;
