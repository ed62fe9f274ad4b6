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
      },
      // Where there is a sign-in, for whom a request is comes from there.
      context: ({ headers }) => ({ userId: headers["x-user"], country: headers["x-country"] }),
    }),
  ],
  controllers: [ShopController],
})
export class AppModule {}
