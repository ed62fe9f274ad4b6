import { describe, expect, inject } from "vitest";
import type { Api, Environment, Flag } from "../../support/api.ts";
import { evaluate } from "../../support/api.ts";
import { button, Key, link, type Page } from "../support/page.ts";
import { testIn } from "../support/test.ts";

const flagSwitch = '[role=switch][aria-label="New checkout in staging"]';

async function createFlag(api: Api): Promise<{ staging: Environment; flag: Flag }> {
  const staging = await api.createEnvironment("Web shop", "staging");
  const flag = await api.createFlag("new_checkout", "New checkout");
  return { staging, flag };
}

/**
 * Returns the lines of a list, those that are fully visible within the list and its dialog, and the height of the list.
 */
function visibleLines(page: Page, list: string, line: string) {
  return page.run(
    (list, line) => {
      const box = document.querySelector(list);
      const frames = [box, box?.closest("dialog")].map((each) => each?.getBoundingClientRect());
      const lines = [...(box?.querySelectorAll<HTMLElement>(line) ?? [])];
      const visible = lines.filter((each) => {
        const { x, y, width, height, top, bottom } = each.getBoundingClientRect();
        const at = document.elementFromPoint(x + width / 2, y + height / 2);
        const fits = frames.every(
          (frame) => frame !== undefined && frame.top <= top && bottom <= frame.bottom,
        );
        return fits && height > 0 && each.contains(at);
      });
      const text = (each: HTMLElement) => each.innerText.replace(/\s+/g, " ").trim();
      return {
        all: lines.map(text),
        visible: visible.map(text),
        height: frames[0]?.height ?? 0,
      };
    },
    list,
    line,
  );
}

describe.each(inject("browsers"))("$name", (browser) => {
  const test = testIn(browser);

  test("refuses a wrong password, and then signs in", async ({ page, server }) => {
    await page.open("/dashboard/flags");
    await page.waitForPath("/dashboard/login");
    await page.signIn({ email: server.email, password: "a guess" });
    await expect.poll(() => page.attribute("input[type=password]", "aria-invalid")).toBe("true");
    await page.signIn(server);
    await page.waitForPath("/dashboard/flags");
    await expect.poll(() => page.text("h1")).toContain("Flags");
    await page.ready();
  });

  test("switches a flag in the list", async ({ page, server, api }) => {
    const { staging } = await createFlag(api);
    await page.openSignedIn("/dashboard/flags", server);
    for (const isEnabled of [true, false]) {
      await page.click(flagSwitch);
      await expect.poll(() => page.attribute(flagSwitch, "aria-checked")).toBe(`${isEnabled}`);
      await expect.poll(() => page.text(flagSwitch)).toBe(isEnabled ? "On" : "Off");
      await expect
        .poll(() => evaluate(server, staging.sdkKey, "new_checkout"))
        .toMatchObject({ enabled: isEnabled });
    }
  });

  test("does not send a form again on reload", async ({ page, server, api }) => {
    const { staging } = await createFlag(api);
    await page.openSignedIn("/dashboard/environments/new", server);
    await page.type("[name=product]", "Web shop");
    await page.type("[name=name]", "staging");
    await page.click(button("Create environment"));
    await expect.poll(() => page.attribute("[name=name]", "aria-invalid")).toBe("true");
    await page.ready();
    // The form would be accepted now.
    await api.revoke(staging);
    await page.reload();
    await expect.poll(() => page.text("h1")).toBe("New environment");
    await expect.poll(() => page.attribute("main", "data-rendered-at")).toMatch(/^\d+$/);
    expect(await page.run(() => location.search)).toBe("");
    await page.open("/dashboard/environments");
    await expect.poll(() => page.text("main")).toContain("No environments");
  });

  test("shows the results of its filters after going back", async ({ page, server, api }) => {
    const { staging } = await createFlag(api);
    // A page is requested again, which would correct it, while its first steps wait for an application, and if it was
    // rendered within a second of a change.
    await evaluate(server, staging.sdkKey, "new_checkout");
    await api.createFlag("dark_mode", "Dark mode");
    await page.openSignedIn("/dashboard/flags", server);
    const shown = () =>
      page.run(() => ({
        search: document.querySelector<HTMLInputElement>("[name=q]")?.value,
        selected: document.querySelectorAll("tbody input:checked").length,
        count: document.querySelector("[data-selected-count]")?.textContent,
        flags: [...document.querySelectorAll("tbody .flag-title a")].map((flag) => flag.innerHTML),
      }));
    const renderedAt = async () => Number(await page.attribute("main", "data-rendered-at"));
    const first = await renderedAt();
    await expect.poll(() => page.reload().then(renderedAt)).toBeGreaterThan(first + 1_000);
    await page.ready();
    await page.type("[name=q]", "dark");
    await expect.poll(shown).toMatchObject({ search: "dark", flags: ["Dark mode"] });
    await page.click("tbody [name=flag]");
    await expect.poll(shown).toMatchObject({ selected: 1, count: "1 flag selected" });
    await page.click(link("Dark mode"));
    await page.waitForPath("/dashboard/flags/dark_mode");
    await page.ready();
    await page.goBack();
    await page.waitForPath("/dashboard/flags");
    await expect
      .poll(shown)
      .toEqual({ search: "dark", selected: 0, count: "Selected flags", flags: ["Dark mode"] });
  });

  test("shows a change by API without a reload", async ({ page, server, api }) => {
    const { staging, flag } = await createFlag(api);
    await page.openSignedIn("/dashboard/flags", server);
    expect(await page.text(flagSwitch)).toBe("Off");
    // A reload would remove the mark.
    await page.run(() => document.documentElement.setAttribute("data-mark", ""));
    for (const isEnabled of [true, false]) {
      await api.switch(flag, staging, isEnabled);
      await expect.poll(() => page.attribute(flagSwitch, "aria-checked")).toBe(`${isEnabled}`);
      await expect.poll(() => page.text(flagSwitch)).toBe(isEnabled ? "On" : "Off");
    }
    expect(await page.attribute("html", "data-mark")).toBe("");
  });

  test("focuses the first field of a dialog, and the wrong one", async ({ page, server, api }) => {
    await createFlag(api);
    await page.openSignedIn("/dashboard/flags", server);
    await page.click(link("New flag"));
    const focused = () => page.run(() => document.activeElement?.getAttribute("name"));
    await expect.poll(focused).toBe("name");
    await page.type("dialog[open] [name=name]", "New checkout");
    await page.click(button("Create flag"));
    await expect.poll(focused).toBe("key");
    expect(await page.attribute("dialog[open] [name=key]", "aria-invalid")).toBe("true");
  });

  test("finds and opens a flag in the palette", async ({ page, server, api }) => {
    await createFlag(api);
    await api.createFlag("dark_mode", "Dark mode");
    await page.openSignedIn("/dashboard/audit", server);
    await page.press("k", Key.CONTROL);
    await page.find(".palette-input");
    const lines = () => visibleLines(page, ".palette-list", "[role=option]");
    await expect.poll(async () => (await lines()).all.length).toBeGreaterThan(5);
    const places = await lines();
    expect(places.visible).toEqual(places.all);
    expect(places.height).toBeGreaterThan(30 * places.all.length);

    await page.type(".palette-input", "CHECK");
    await expect
      .poll(async () => (await lines()).all)
      .toEqual([expect.stringContaining("New checkout")]);
    const found = await lines();
    expect(found.visible).toEqual(found.all);
    expect(found.height).toBeGreaterThan(30);
    await page.press(Key.ENTER);
    await page.waitForPath("/dashboard/flags/new_checkout");
    await page.ready();
  });

  test("shows each line of the help", async ({ page, server }) => {
    await page.openSignedIn("/dashboard/flags", server);
    await page.press("?");
    await page.find("#help-dialog");
    const { all, visible } = await visibleLines(page, "#help-dialog .shortcuts", "dt, dd");
    expect(all).toEqual(expect.arrayContaining(["Ctrl K", "Close the open dialog or menu"]));
    expect(visible).toEqual(all);
    await page.press(Key.ESCAPE);
    await expect.poll(() => page.attribute("#help-dialog", "open")).toBeNull();
  });

  test("adds a rule with a condition", async ({ page, server, api }) => {
    const { staging, flag } = await createFlag(api);
    await api.switch(flag, staging, true);
    await page.openSignedIn("/dashboard/flags/new_checkout", server);
    await page.click(link("Add rule"));
    await page.find("#rule-form[data-ready]");
    await page.type("#rule-form [name=attribute]", "seats");
    await page.choose("#rule-form [name=valueType]", "number");
    await page.choose("#rule-form [name=operator]", ">");
    await page.type("#rule-form [name=operand]:enabled", "10");
    await page.click(button("Add rule"));
    await expect.poll(() => page.text("#rules .step-text")).toBe("ON when seats is more than 10");
    expect(await api.rules(flag, staging)).toMatchObject([
      { value: true, conditions: [{ attribute: "seats", operator: ">", valueInt: 10 }] },
    ]);
  });

  test("evaluates in the playground as the server does", async ({ page, server, api }) => {
    const { staging, flag } = await createFlag(api);
    await api.switch(flag, staging, true);
    await api.setRollout(flag, staging, 64);
    const address = `/dashboard/try?flag=new_checkout&environment=${staging.id}`;
    await page.openSignedIn(address, server);
    const main = () => page.text("main");
    await expect.poll(main).toContain("Server and this browser agree.");
    // The buckets of "ada" and "linus" are 63 and 72.
    for (const [userId, verdict] of [
      ["ada", "its bucket, 63, is below 64"],
      ["linus", "its bucket, 72, is not below 64"],
    ] as const) {
      await page.type("#playground-userId", userId);
      await expect.poll(main).toContain(verdict);
      await expect.poll(main).toContain("Server and this browser agree.");
    }
  });
});
