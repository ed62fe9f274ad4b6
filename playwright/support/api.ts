import type { Server } from "./server.ts";

export type Environment = { readonly id: string; readonly sdkKey: string };
export type Role = "viewer" | "editor" | "admin";
/** The credentials of an account. */
export type Account = { readonly email: string; readonly password: string };
export type Flag = { readonly id: string; readonly key: string };
export type User = Account & { readonly id: string };
export type Condition = { readonly attribute: string; readonly operator: string } & (
  | { readonly valueType: "string"; readonly valueString: string }
  | { readonly valueType: "number"; readonly valueInt: number }
  | { readonly valueType: "boolean"; readonly valueBool: boolean }
);
export type Rule = {
  readonly priority: number;
  readonly logic: "and" | "or";
  readonly value: boolean;
  readonly conditions: readonly Condition[];
};

/** A signed-in client of the REST API, which creates the data that a test needs before it opens a page. */
export class Api {
  readonly #server: Server;
  readonly #token: string;

  private constructor(server: Server, token: string) {
    this.#server = server;
    this.#token = token;
  }

  static async signIn(server: Server, account: Account = server): Promise<Api> {
    const { email, password } = account;
    const answer = await send(server, "POST", "/auth/login", undefined, { email, password });
    const { access_token } = (await answer.json()) as { access_token: string };
    return new Api(server, access_token);
  }

  async createUser(email: string, role: Role): Promise<User> {
    const account = { email, password: "tr0ub4dor and some more" };
    const { id } = await this.#create<{ id: string }>("/users", { ...account, role });
    return { ...account, id };
  }

  async createEnvironment(product: string, name: string): Promise<Environment> {
    return this.#create("/environments", { product, name });
  }

  /** Makes the dashboard ask before each change in an environment, and require a reason if wanted. */
  async protect(environment: Environment, reasonRequired = false): Promise<void> {
    const body = { protected: true, reasonRequired };
    await send(this.#server, "PATCH", `/environments/${environment.id}`, this.#token, body);
  }

  /** Creates an environment whose key everyone can read, and which has only public flags. */
  async createPublicEnvironment(
    product: string,
    name: string,
    clientRules: "full" | "answers" = "full",
  ): Promise<Environment> {
    const visibility = "public";
    return this.#create("/environments", { product, name, visibility, clientRules });
  }

  async renameEnvironment(environment: Environment, name: string): Promise<void> {
    await send(this.#server, "PATCH", `/environments/${environment.id}`, this.#token, { name });
  }

  async revoke(environment: Environment): Promise<void> {
    await send(this.#server, "POST", `/environments/${environment.id}/revoke`, this.#token);
  }

  /** Rotates the SDK key of an environment, and returns the environment that replaces it. */
  async rotateKey(environment: Environment): Promise<Environment> {
    return this.#create(`/environments/${environment.id}/rotate-key`, {});
  }

  /** Creates a flag, in the environments of these products only if there are any. */
  async createFlag(
    key: string,
    name: string,
    description?: string,
    products?: readonly string[],
  ): Promise<Flag> {
    return this.#create("/flags", { key, name, description, type: "boolean", products });
  }

  /** Creates a flag that exists in public environments, too. */
  async createPublicFlag(key: string, name: string, description?: string): Promise<Flag> {
    return this.#create("/flags", { key, name, description, type: "boolean", public: true });
  }

  /** Creates a personal access token for the signed-in account, and returns its secret. */
  async createToken(name: string): Promise<string> {
    const { token } = await this.#create<{ token: string }>("/users/me/tokens", {
      name,
      role: "viewer",
    });
    return token;
  }

  async restore(flag: Flag): Promise<void> {
    await send(this.#server, "POST", `/flags/${flag.id}/restore`, this.#token);
  }

  async archive(flag: Flag): Promise<void> {
    await send(this.#server, "DELETE", `/flags/${flag.id}`, this.#token);
  }

  async switch(flag: Flag, environment: Environment, isEnabled: boolean): Promise<void> {
    await this.#put(flag, environment, "", { isEnabled });
  }

  async setTtl(flag: Flag, environment: Environment, ttlOverrideSeconds: number): Promise<void> {
    await this.#put(flag, environment, "", { ttlOverrideSeconds });
  }

  async addRule(flag: Flag, environment: Environment, rule: Rule): Promise<{ id: string }> {
    return this.#create(`${path(flag, environment)}/rules`, rule);
  }

  async replaceRule(rule: { id: string }, by: Rule): Promise<void> {
    await send(this.#server, "PUT", `/rules/${rule.id}`, this.#token, by);
  }

  async deleteRule(rule: { id: string }): Promise<void> {
    await send(this.#server, "DELETE", `/rules/${rule.id}`, this.#token);
  }

  async rules(flag: Flag, environment: Environment): Promise<readonly Rule[]> {
    const address = `${path(flag, environment)}/rules`;
    const answer = await send(this.#server, "GET", address, this.#token);
    return (await answer.json()) as Rule[];
  }

  async setRollout(flag: Flag, environment: Environment, percentage: number): Promise<void> {
    await this.#put(flag, environment, "/rollout", { percentage, strategy: "per_user" });
  }

  /** Returns the whole configuration of a flag in an environment, as the config document contains it. */
  async configuration(flag: Flag, environment: Environment): Promise<unknown> {
    const answer = await send(this.#server, "GET", "/sdk/v1/config", environment.sdkKey);
    const { flags } = (await answer.json()) as { flags: { key: string }[] };
    return flags.find(({ key }) => key === flag.key);
  }

  async setRole(user: User, role: Role): Promise<void> {
    await send(this.#server, "PATCH", `/users/${user.id}`, this.#token, { role });
  }

  async deleteUser(user: User): Promise<void> {
    await send(this.#server, "DELETE", `/users/${user.id}`, this.#token);
  }

  /** Creates a personal access token for another account, and returns its secret. */
  async createTokenAs(account: Account, name: string): Promise<string> {
    const own = await Api.signIn(this.#server, account);
    return own.createToken(name);
  }

  /** Returns the status of the response to a request with this token. */
  async statusWith(token: string): Promise<number> {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(new URL("/flags", this.#server.url), { headers });
    return answer.status;
  }

  async #create<T>(path: string, body: object): Promise<T> {
    const answer = await send(this.#server, "POST", path, this.#token, body);
    return (await answer.json()) as T;
  }

  async #put(flag: Flag, environment: Environment, rest: string, body: object): Promise<void> {
    await send(this.#server, "PUT", path(flag, environment) + rest, this.#token, body);
  }
}

/** Evaluates a flag as an application with this SDK key. */
export async function evaluate(
  server: Server,
  sdkKey: string,
  flagKey: string,
  context: object = {},
): Promise<{ enabled: boolean; reason: string }> {
  const answer = await send(server, "POST", "/sdk/v1/evaluate", sdkKey, { flagKey, context });
  return (await answer.json()) as { enabled: boolean; reason: string };
}

/** Fetches the config document as a client that sends its name. */
export async function fetchAs(server: Server, sdkKey: string, client: string): Promise<void> {
  const headers = { authorization: `Bearer ${sdkKey}`, "x-pennon-client": client };
  const answer = await fetch(new URL("/sdk/v1/config", server.url), { headers });
  if (!answer.ok) {
    throw new Error(`the configuration was refused with status ${answer.status}`);
  }
}

function path(flag: Flag, environment: Environment): string {
  return `/flags/${flag.id}/environments/${environment.id}`;
}

async function send(
  server: Server,
  method: string,
  path: string,
  token?: string,
  body?: object,
): Promise<Response> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (token !== undefined) {
    headers.authorization = `Bearer ${token}`;
  }
  const answer = await fetch(new URL(path, server.url), {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) {
    throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  }
  return answer;
}
