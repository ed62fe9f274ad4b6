/// <reference types="svelte" />
import { mount, unmount } from "svelte";
import Checkout from "./checkout.svelte";
import { main, onLeave } from "./page";

const checkout = mount(Checkout, { target: main });
onLeave(() => void unmount(checkout));
