import { Injectable } from "@nestjs/common";
import type { FeatureFlagsClient } from "@pennon/core";
import { FeatureFlagsModule, InjectFeatureFlags } from "@pennon/nest";

export const imports = [
  FeatureFlagsModule.forRoot({ options: { sdkKey: "pnk_of_the_web_shop" } }),
  FeatureFlagsModule.forRoot({ name: "billing", options: { sdkKey: "pnk_of_billing" } }),
];

@Injectable()
export class Invoices {
  constructor(@InjectFeatureFlags("billing") private readonly flags: FeatureFlagsClient) {}

  send(tenantId: string) {
    return this.flags.read("electronic_invoices", { tenantId })?.enabled ?? false;
  }
}
