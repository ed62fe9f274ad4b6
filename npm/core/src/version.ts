/** The manifest's version; put in when the package is built. */
declare const PACKAGE_VERSION: string;

/** The version of this package. All packages of Pennon have the same, and refuse a core of another one. */
export const VERSION: string = PACKAGE_VERSION;
