import { Controller, Get } from "@nestjs/common";
import { FeatureFlags, FlagValue, RequireFlag } from "@pennon/nest";

@Controller("checkout")
export class CheckoutController {
  constructor(readonly flags: FeatureFlags) {}

  @Get()
  @RequireFlag("new_checkout") // 404 where it is off
  checkout(@FlagValue("banner") banner: boolean) {
    return { banner };
  }

  @Get("express")
  @RequireFlag("express_checkout", { status: 403 })
  express() {
    return { gifts: this.flags.isEnabled("gifts") };
  }
}
