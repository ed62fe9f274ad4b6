import { Controller, Get } from "@nestjs/common";
import { FeatureFlags, FlagValue, RequireFlag } from "@pennon/nest";

@Controller()
export class ShopController {
  readonly #flags: FeatureFlags;

  constructor(flags: FeatureFlags) {
    this.#flags = flags;
  }

  @Get("checkout")
  @RequireFlag("new_checkout")
  checkout() {
    return { checkout: "new" };
  }

  @Get("banner")
  banner(@FlagValue("banner") shown: boolean) {
    return { banner: shown ? "Everything must go" : null };
  }

  @Get("flags")
  all() {
    return this.#flags.readAll();
  }
}
