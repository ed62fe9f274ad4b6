import { Module } from "@nestjs/common";
import { OpenFeatureModule } from "@openfeature/nestjs-sdk";

@Module({
  imports: [
    OpenFeatureModule.forRoot({
      contextFactory: (execution) => {
        const { user } = execution.switchToHttp().getRequest();
        return { targetingKey: user?.id, tenantId: user?.company };
      },
    }),
  ],
})
export class AppModule {}
