import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [react()],
  // What begins so ends up in the bundle: these two, and none of the server's settings, which are secrets in part.
  envPrefix: ["PENNON_URL", "PENNON_SDK_KEY"],
});
