import { Module } from "@nestjs/common";
import { FeatureFlagsModule } from "@pennon/nest";
import { CheckoutController } from "./checkout.controller.js";

@Module({
  imports: [
    FeatureFlagsModule.forRoot({
      options: {
        sdkKey: process.env.PENNON_SDK_KEY ?? "",
        baseUrl: "https://flags.example.com",
      },
      context: (request) => ({ userId: request.user?.id }),
    }),
  ],
  controllers: [CheckoutController],
})
export class AppModule {}
