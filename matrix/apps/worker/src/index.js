const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
worker.onmessage = ({ data }) => {
  document.querySelector("output").textContent = JSON.stringify(data);
};
worker.postMessage(location.origin);
