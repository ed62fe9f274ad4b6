import { Module } from "@nestjs/common";
import { FeatureFlagsModule } from "@pennon/nest";
import { ShopController } from "./shop.controller.js";

@Module({
  imports: [
    FeatureFlagsModule.forRoot({
      options: {
        sdkKey: process.env.PENNON_SDK_KEY ?? "",
        baseUrl: process.env.PENNON_URL ?? "http://127.0.0.1:3000",
        streaming: true,
        // While Pennon is unreachable, flags keep their values.
        staleIfError: true,
      },
      // Your application takes the user from its sign-in instead.
      context: ({ headers }) => ({ userId: headers["x-user"], country: headers["x-country"] }),
    }),
  ],
  controllers: [ShopController],
})
export class AppModule {}
