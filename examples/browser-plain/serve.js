import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import express from "express";

const {
  PENNON_SDK_KEY: sdkKey,
  PENNON_URL: baseUrl = "http://127.0.0.1:3000",
  PORT = 4002,
} = process.env;

if (!sdkKey) {
  throw new Error("Set PENNON_SDK_KEY to the SDK key of an environment.");
}

/** Allows the page its own scripts, WebAssembly, and requests to Pennon. */
const policy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  `connect-src ${new URL(baseUrl).origin}`,
  "img-src data:",
].join("; ");

const app = express();
app.use((_request, response, next) => {
  response.set("Content-Security-Policy", policy);
  next();
});
app.use(express.static(fileURLToPath(new URL("public", import.meta.url))));
// The files of the package, unchanged.
app.use("/pennon", express.static(dirname(fileURLToPath(import.meta.resolve("@pennon/core")))));
app.get("/settings.js", (_request, response) => {
  response.type("js").send(`export default ${JSON.stringify({ sdkKey, baseUrl })};\n`);
});

const server = app.listen(PORT, "127.0.0.1", (error) => {
  if (error) {
    throw error;
  }
  console.log(`Open http://127.0.0.1:${server.address().port}`);
});
