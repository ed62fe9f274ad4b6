/**
 * Returns the options of a client whose requests name this package in `X-Pennon-Client`. Options that another package has
 * named already keep that name: a provider of `@pennon/next` remains one, although `@pennon/react` makes its client.
 */
export function named<Options extends object>(options: Options): Options;
