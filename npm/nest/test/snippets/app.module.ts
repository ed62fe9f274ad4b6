import { Module } from "@nestjs/common";
import { FeatureFlagsModule } from "@pennon/nest";
import { CheckoutController } from "./checkout.controller.js";

@Module({
  imports: [
    FeatureFlagsModule.forRoot({
      options: { sdkKey: process.env.PENNON_SDK_KEY ?? "", baseUrl: "http://127.0.0.1:3000" },
      context: (request) => ({ userId: request.user?.id, country: request.headers["x-country"] }),
    }),
  ],
  controllers: [CheckoutController],
})
export class AppModule {}
