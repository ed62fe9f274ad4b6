import { createHash } from "node:crypto";
import type { TransportRequest, TransportResponse } from "@pennon/core";
import { status } from "./scripted.ts";
import { StreamingServer } from "./streaming.ts";

/** A flag as `POST /sdk/v1/evaluate/all` returns it. */
export interface RemoteEvaluation {
  readonly key: string;
  readonly enabled: boolean;
  readonly reason: string;
  readonly ttlOverrideSeconds: number | null;
}

/** Returns an evaluation with the reason of a flag without rules. */
export function evaluation(
  key: string,
  enabled = true,
  more: Partial<RemoteEvaluation> = {},
): RemoteEvaluation {
  const reason = enabled ? "flag_enabled" : "flag_disabled";
  return { key, enabled, reason, ttlOverrideSeconds: null, ...more };
}

/** The evaluations for a user: `banner` for all, and `beta`, which is on for Ada. */
export function evaluationsFor(userId: unknown): readonly RemoteEvaluation[] {
  return [evaluation("banner"), evaluation("beta", userId === "ada", { reason: "targeting_rule" })];
}

/** A server that hides its rules, and evaluates all flags for a context. It responds with tags and 304. */
export class EvaluatingServer extends StreamingServer {
  /** The ID of the config document. */
  document = "v1";
  evaluate = evaluationsFor;

  constructor() {
    super((request) => this.respond(request));
  }

  /** The posted bodies. */
  get bodies(): readonly unknown[] {
    return this.requests.map(({ body }) => (body === undefined ? undefined : JSON.parse(body)));
  }

  /** Responds to everything with this status, until `recover()`. */
  fail(code: number): void {
    this.respondWith(status(code));
  }

  recover(): void {
    this.respondWith((request) => this.respond(request));
  }

  respond({ url, headers, body = "" }: TransportRequest): TransportResponse {
    if (!url.endsWith("/evaluate/all")) {
      return { status: url.endsWith("/usage") ? 204 : 403, headers: new Headers() };
    }
    const hash = createHash("sha256").update(body).digest("base64url").slice(0, 8);
    const etag = `W/"${this.document}.${hash}"`;
    if (headers["If-None-Match"] === etag) {
      return { status: 304, headers: new Headers({ ETag: etag }) };
    }
    const flags = this.evaluate(JSON.parse(body).context?.userId);
    return { status: 200, headers: new Headers({ ETag: etag }), body: JSON.stringify({ flags }) };
  }
}
