/**
 * Returns the options of a client with this package's name for the header `X-Pennon-Client`. Options that another
 * package has named keep that name: a provider of `@pennon/next` is counted as such, although `@pennon/react` creates
 * its client.
 */
export function named<Options extends object>(options: Options): Options;
