interface ImportMetaEnv {
  readonly PENNON_SDK_KEY: string;
  readonly PENNON_URL?: string;
}
