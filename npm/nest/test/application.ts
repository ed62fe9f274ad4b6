import "reflect-metadata";
import { type INestApplication, Module, type ModuleMetadata } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { ExpressAdapter } from "@nestjs/platform-express";
import { FastifyAdapter } from "@nestjs/platform-fastify";
import { onTestFinished } from "vitest";

/** As it is before a test puts another one in its place, for the clients. */
const { fetch } = globalThis;

export const ADAPTERS = ["Express", "Fastify"] as const;
export type Adapter = (typeof ADAPTERS)[number];

/** An application that serves, until the test is over. */
export interface Application {
  readonly app: INestApplication;
  /** What is answered to a request from somebody in a country. */
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

/** A request as both adapters have it, and what the tests' guards put on it. */
export interface Request {
  readonly headers: Readonly<Record<string, string | undefined>>;
  user?: { readonly id: string };
}

/** Finds in a header where a request is from. */
export function fromHeaders({ headers }: Request) {
  return { country: headers["x-country"] };
}
