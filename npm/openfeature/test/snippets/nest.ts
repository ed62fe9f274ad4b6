import { Module } from "@nestjs/common";
import { OpenFeatureModule } from "@openfeature/nestjs-sdk";
import { PennonServerProvider } from "@pennon/openfeature/server";

@Module({
  imports: [
    OpenFeatureModule.forRoot({
      defaultProvider: new PennonServerProvider({ sdkKey: process.env.PENNON_SDK_KEY ?? "" }),
      contextFactory: (execution) => {
        const { user } = execution.switchToHttp().getRequest();
        return { targetingKey: user.id, tenantId: user.company };
      },
    }),
  ],
})
export class AppModule {}
