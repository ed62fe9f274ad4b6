import "reflect-metadata";
import type { AddressInfo } from "node:net";
import { Controller, Get, Inject, Module, Query } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { getOpenFeatureClientToken, OpenFeatureModule } from "@openfeature/nestjs-sdk";
import { type Client, OpenFeature } from "@openfeature/server-sdk";
import { PennonServerProvider } from "@pennon/openfeature/server";
import type { Application, Given, Kind } from "./application.ts";
import { forget, listen, resolve } from "./server.ts";

/** Returns evaluations for the context of the request. */
@Controller()
class Flags {
  readonly #client: Client;

  constructor(@Inject(getOpenFeatureClientToken()) client: Client) {
    this.#client = client;
  }

  @Get()
  resolve(@Query("key") key: string, @Query("kind") kind: Kind) {
    return resolve(this.#client, key, kind);
  }
}

/** A NestJS application, which derives the context from each request. */
export async function nest(given: Given): Promise<Application> {
  class Root {}
  Module({
    imports: [
      OpenFeatureModule.forRoot({
        defaultProvider: new PennonServerProvider(given),
        contextFactory: (request) =>
          JSON.parse(request.switchToHttp().getRequest().headers["x-subject"]),
      }),
    ],
    controllers: [Flags],
  })(Root);
  const events = listen();
  const app = await NestFactory.create(Root, { logger: false });
  await app.listen(0, "127.0.0.1");
  const { port } = app.getHttpServer().address() as AddressInfo;
  const client = OpenFeature.getClient();
  let subject = "{}";
  return {
    events,
    status: () => client.providerStatus,
    setContext: async (context) => {
      subject = JSON.stringify(context);
    },
    evaluate: async (key, kind = "boolean") => {
      const query = new URLSearchParams({ key, kind });
      const url = `http://127.0.0.1:${port}/?${query}`;
      return (await fetch(url, { headers: { "X-Subject": subject } })).json();
    },
    process: (action) => action(),
    track: (event) => client.track(event),
    addHook: (hook) => void OpenFeature.addHooks(hook),
    close: async () => {
      await app.close();
      await forget();
    },
  };
}
