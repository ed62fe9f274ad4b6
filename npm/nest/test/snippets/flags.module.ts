import { Module } from "@nestjs/common";
import { FeatureFlagsModule } from "@pennon/nest";
import { Settings, SettingsModule } from "./settings.module.js";

@Module({
  imports: [
    FeatureFlagsModule.forRootAsync({
      imports: [SettingsModule],
      inject: [Settings],
      useFactory: (settings: Settings) => ({
        options: { sdkKey: settings.sdkKey, streaming: true },
        required: true,
      }),
    }),
  ],
})
export class FlagsModule {}
