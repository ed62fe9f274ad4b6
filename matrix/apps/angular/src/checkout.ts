import { Component, inject, signal } from "@angular/core";
import { Flags } from "./flags";

@Component({
  selector: "app-checkout",
  template: `
    <select #user aria-label="Signed in as" (change)="userId.set(user.value)">
      <option>ada</option>
      <option>linus</option>
    </select>
    <button type="button">{{ hasNewCheckout() ? "Buy now with one click" : "Check out" }}</button>
  `,
})
export class Checkout {
  readonly userId = signal("ada");
  readonly hasNewCheckout = inject(Flags).flag("new_checkout", () => ({ userId: this.userId() }));
}
