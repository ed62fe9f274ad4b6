interface ImportMetaEnv {
  readonly VITE_PENNON_SDK_KEY: string;
}

interface ImportMeta {
  readonly env: ImportMetaEnv;
}
