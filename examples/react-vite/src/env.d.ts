interface ImportMetaEnv {
  readonly VITE_PENNON_SDK_KEY?: string;
  readonly VITE_PENNON_URL?: string;
}
