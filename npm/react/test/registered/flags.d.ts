import "@pennon/core";

declare module "@pennon/core" {
  interface RegisteredFlags {
    new_checkout: boolean;
    banner: boolean;
  }
}
