interface ImportMeta {
  readonly env: { readonly VITE_PENNON_SDK_KEY: string };
}
