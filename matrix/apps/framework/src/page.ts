import { client } from "./client";

const { subscribe } = client;

/** Shows the number of subscriptions in the title of the page. */
function count(change: number): void {
  document.title = String((Number(document.title) || 0) + change);
}

Object.assign(client, {
  subscribe(listener: () => void) {
    const unsubscribe = subscribe(listener);
    count(1);
    return () => {
      unsubscribe();
      count(-1);
    };
  },
});

/** The element to render into. */
export const main = document.querySelector("main") as HTMLElement;

/** Unmounts the application when the visitor leaves. */
export function onLeave(unmount: () => void): void {
  document.querySelector("#leave")?.addEventListener("click", unmount);
}
