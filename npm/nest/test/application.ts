import "reflect-metadata";
import { type INestApplication, Module, type ModuleMetadata } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { ExpressAdapter } from "@nestjs/platform-express";
import { FastifyAdapter } from "@nestjs/platform-fastify";
import { onTestFinished } from "vitest";

/** The real `fetch`, before a test replaces it for the clients. */
const { fetch } = globalThis;

export const ADAPTERS = ["Express", "Fastify"] as const;
export type Adapter = (typeof ADAPTERS)[number];

/** A running application, which is closed after the test. */
export interface Application {
  readonly app: INestApplication;
  /** Returns the response to a request from this country. */
  readonly get: (path: string, country?: string) => Promise<{ status: number; body: unknown }>;
}

export async function start(
  metadata: ModuleMetadata,
  adapter: Adapter = "Express",
): Promise<Application> {
  class Root {}
  Module(metadata)(Root);
  const app = await NestFactory.create(
    Root,
    adapter === "Express" ? new ExpressAdapter() : new FastifyAdapter(),
    { logger: false, abortOnError: false },
  );
  onTestFinished(() => app.close());
  await app.listen(0, "127.0.0.1");
  const url = await app.getUrl();
  return {
    app,
    get: async (path, country = "GB") => {
      const answer = await fetch(url + path, { headers: { "X-Country": country } });
      const text = await answer.text();
      return { status: answer.status, body: text && JSON.parse(text) };
    },
  };
}

/** A request as both adapters provide it, with the properties that the tests' guards set. */
export interface Request {
  readonly headers: Readonly<Record<string, string | undefined>>;
  user?: { readonly id: string };
}

/** Returns the context of a request, with the country from a header. */
export function fromHeaders({ headers }: Request) {
  return { country: headers["x-country"] };
}
