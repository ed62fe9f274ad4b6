import { Injectable, Module } from "@nestjs/common";
import { FeatureFlagsClient } from "@pennon/core";
import { FeatureFlagsModule, InjectFeatureFlags } from "@pennon/nest";

@Injectable()
export class Invoices {
  constructor(@InjectFeatureFlags("billing") private readonly flags: FeatureFlagsClient) {}

  send(tenantId: string) {
    return this.flags.read("electronic_invoices", { tenantId })?.enabled ?? false;
  }
}

@Module({
  imports: [
    FeatureFlagsModule.forRoot({ options: { sdkKey: "pnk_of_the_web_shop" } }),
    FeatureFlagsModule.forRoot({ name: "billing", options: { sdkKey: "pnk_of_billing" } }),
  ],
  providers: [Invoices],
})
export class AppModule {}
