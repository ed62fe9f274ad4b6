import { Module } from "@nestjs/common";

export class Settings {
  readonly sdkKey = process.env.PENNON_SDK_KEY ?? "";
}

@Module({ providers: [Settings], exports: [Settings] })
export class SettingsModule {}
