/** Scrolls the tabs of a page sideways until the current one is visible. */
export function showCurrentTab(): void {
  const tab = document.querySelector<HTMLElement>(".tabs [aria-current]");
  const tabs = tab?.parentElement;
  if (tab && tabs) {
    tabs.scrollLeft = tab.offsetLeft + tab.offsetWidth - tabs.clientWidth;
  }
}
