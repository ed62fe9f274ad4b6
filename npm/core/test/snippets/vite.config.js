import { preloadFlags } from "@pennon/core/vite";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [preloadFlags({ sdkKey: "pnp_your_key", baseUrl: "https://flags.example.com" })],
});
