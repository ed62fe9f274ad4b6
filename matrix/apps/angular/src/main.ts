// Compiles the component in the browser.
import "@angular/compiler";
import { bootstrapApplication } from "@angular/platform-browser";
import { Checkout } from "./checkout";
import { main, onLeave } from "./page";

main.append(document.createElement("app-checkout"));
bootstrapApplication(Checkout).then((app) => onLeave(() => app.destroy()));
