/** The format of an e-mail address, as the server checks it. */
export const EMAIL: RegExp;
