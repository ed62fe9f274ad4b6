/** The version in the manifest, which the build inserts. */
declare const PACKAGE_VERSION: string;

/** The version of this package. All Pennon packages have the same version, and reject a core of another one. */
export const VERSION: string = PACKAGE_VERSION;
