import { NestFactory } from "@nestjs/core";
import { OpenFeature } from "@openfeature/server-sdk";
import { PennonServerProvider } from "@pennon/openfeature/server";
import { AppModule } from "./app.module.js";

async function bootstrap() {
  const provider = new PennonServerProvider({
    sdkKey: process.env.PENNON_SDK_KEY ?? "",
    // While Pennon is unreachable, flags keep their values.
    staleIfError: true,
  });
  // If Pennon is down, the application starts without flags, and the provider keeps trying.
  await OpenFeature.setProviderAndWait(provider).catch(console.error);
  const app = await NestFactory.create(AppModule);
  app.enableShutdownHooks();
  await app.listen(process.env.PORT ?? 4000, "127.0.0.1");
}

bootstrap();
