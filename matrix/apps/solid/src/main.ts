import { createComponent, render } from "solid-js/web";
import { Checkout } from "./checkout";
import { main, onLeave } from "./page";

onLeave(render(() => createComponent(Checkout, {}), main));
