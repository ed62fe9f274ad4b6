/** An error whose message is enough for the user, without a stack trace. */
export class QuickstartError extends Error {}

/** The few calls of Pennon's REST API that the quickstart makes. Bodies are JSON in both directions. */
export class Api {
  #baseUrl;
  #authorization = {};

  constructor(baseUrl) {
    this.#baseUrl = baseUrl.replace(/\/+$/, "");
  }

  /** Signs in. All later calls carry the access token, which is valid for 15 minutes. */
  async signIn(email, password) {
    const { access_token: token } = await this.post("/auth/login", { email, password });
    this.#authorization = { authorization: `Bearer ${token}` };
  }

  /** Ends the session. Its token no longer works. */
  signOut() {
    return this.post("/auth/logout");
  }

  post(path, body, headers = this.#authorization) {
    return this.#send("POST", path, body, headers);
  }

  put(path, body) {
    return this.#send("PUT", path, body, this.#authorization);
  }

  /** Returns the server's evaluation of a flag. Like applications, it uses an SDK key, not the access token. */
  evaluate(sdkKey, flagKey, context) {
    const headers = { authorization: `Bearer ${sdkKey}` };
    return this.post("/sdk/v1/evaluate", { flagKey, context }, headers);
  }

  async #send(method, path, body, headers) {
    const response = await fetch(this.#baseUrl + path, {
      method,
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    }).catch((error) => {
      throw new QuickstartError(
        `There is no answer from ${this.#baseUrl} (${error.cause?.code ?? error.message}).\n` +
          "Start a server with `cargo xtask run`, or set PENNON_URL to where one is.",
      );
    });
    if (!response.ok) {
      throw new QuickstartError(`${method} ${path} failed: ${await explained(response)}`);
    }
    return response.status === 204 ? undefined : response.json();
  }
}

/** Returns the message of a problem document (RFC 9457): `detail` is the error, `errors` its places in the body. */
async function explained(response) {
  const { detail, errors = [] } = await response.json().catch(() => ({}));
  const places = errors.map((error) => `\n  ${error.pointer ?? error.parameter} ${error.detail}`);
  return `${response.status} ${detail ?? response.statusText}${places.join("")}`;
}
