/**
 * Adds this package's name, which the header `X-Pennon-Client` contains, to the options of a client. Keeps a name that
 * another package has already added: the provider of `@pennon/next` is counted as such, although `@pennon/react`
 * creates its client.
 */
export function withClientName<Options extends object>(options: Options): Options;
