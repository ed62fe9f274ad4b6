import { preloadFlags } from "@pennon/core/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, loadEnv } from "vite";

export default defineConfig(({ mode }) => {
  const { VITE_PENNON_SDK_KEY: sdkKey, VITE_PENNON_URL: baseUrl } = loadEnv(mode, ".");
  return { plugins: [react(), preloadFlags({ sdkKey, baseUrl })] };
});
