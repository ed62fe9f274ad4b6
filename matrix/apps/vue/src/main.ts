import { createApp } from "vue";
import Checkout from "./checkout.vue";
import { main, onLeave } from "./page";

const app = createApp(Checkout);
app.mount(main);
onLeave(() => app.unmount());
