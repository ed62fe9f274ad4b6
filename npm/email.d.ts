/** The format of an e-mail address, as the service checks it. */
export const EMAIL: RegExp;
