import { fetchTransport } from "@pennon/core";
import {
  FeatureFlagsProvider,
  useFeatureFlagsClient,
  useFlagDetails,
  useFlagsStatus,
} from "@pennon/react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { answers } from "../answers.js";

/** A client class for `answers` whose questions are components rendered below a provider. */
class Rendered {
  #options;
  #root = createRoot(document.createElement("div"));
  #client;

  constructor(options) {
    this.#options = options;
  }

  initialize() {
    return new Promise((resolve, reject) => {
      const said = (client, { ready, error }) => {
        this.#client = client;
        if (error) {
          reject(error);
        } else if (ready) {
          resolve();
        }
      };
      this.#render(<Status said={said} />);
    });
  }

  read(key, context) {
    let details;
    const said = (given) => {
      details = given;
    };
    this.#render(<Flag name={key} said={said} />, context);
    const { value, reason } = details;
    return reason && { enabled: value, reason };
  }

  evaluateRemote(key, context) {
    return this.#client.evaluateRemote(key, context);
  }

  shutdown() {
    this.#root.unmount();
  }

  #render(question, context) {
    flushSync(() =>
      this.#root.render(
        <FeatureFlagsProvider options={this.#options} context={context}>
          {question}
        </FeatureFlagsProvider>,
      ),
    );
  }
}

function Status({ said }) {
  said(useFeatureFlagsClient(), useFlagsStatus());
  return null;
}

function Flag({ name, said }) {
  said(useFlagDetails(name));
  return null;
}

answers({ FeatureFlagsClient: Rendered, fetchTransport }, location.origin).then((said) => {
  document.querySelector("output").textContent = JSON.stringify(said);
});
