import { Controller, Get } from "@nestjs/common";
import { FlagValue, RequireFlag } from "@pennon/nest";

@Controller("checkout")
export class CheckoutController {
  @Get()
  @RequireFlag("new_checkout") // 404 where it is off
  checkout(@FlagValue("banner") banner: boolean) {
    return { banner };
  }
}
