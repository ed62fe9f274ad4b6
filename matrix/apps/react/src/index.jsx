import { fetchTransport } from "@pennon/core";
import {
  FeatureFlagsProvider,
  useFeatureFlagsClient,
  useFlagDetails,
  useFlagsStatus,
} from "@pennon/react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { evaluateVectors } from "../evaluate-vectors.js";

/** A client class for `evaluateVectors` whose evaluations are components rendered below a provider. */
class Rendered {
  #options;
  #root = createRoot(document.createElement("div"));
  #client;

  constructor(options) {
    this.#options = options;
  }

  initialize() {
    return new Promise((resolve, reject) => {
      const onRender = (client, { ready, error }) => {
        this.#client = client;
        if (error) {
          reject(error);
        } else if (ready) {
          resolve();
        }
      };
      this.#render(<Status onRender={onRender} />);
    });
  }

  read(key, context) {
    let details;
    const onRender = (rendered) => {
      details = rendered;
    };
    this.#render(<Flag name={key} onRender={onRender} />, context);
    const { value, reason } = details;
    return reason && { enabled: value, reason };
  }

  evaluateRemote(key, context) {
    return this.#client.evaluateRemote(key, context);
  }

  shutdown() {
    this.#root.unmount();
  }

  #render(element, context) {
    flushSync(() =>
      this.#root.render(
        <FeatureFlagsProvider options={this.#options} context={context}>
          {element}
        </FeatureFlagsProvider>,
      ),
    );
  }
}

function Status({ onRender }) {
  onRender(useFeatureFlagsClient(), useFlagsStatus());
  return null;
}

function Flag({ name, onRender }) {
  onRender(useFlagDetails(name));
  return null;
}

evaluateVectors({ FeatureFlagsClient: Rendered, fetchTransport }, location.origin).then(
  (output) => {
    document.querySelector("output").textContent = JSON.stringify(output);
  },
);
