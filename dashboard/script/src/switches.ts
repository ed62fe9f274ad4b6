import { signInAddress, switchAddress } from "./addresses.ts";
import { link, on, post } from "./dom.ts";
import { closeMessage, showMessage } from "./messages.ts";

/** The ids of the requests by which this page made changes. */
export const ownRequests = new Set<string>();

/**
 * The event of the document after a switch has its answer, or none will arrive. Its detail is true if the flag was
 * switched.
 */
export const switchSettled = "switch-settled";

/** The time for which a switch waits for its answer before a message says so, in milliseconds. */
const waitingMessageDelay = 3_000;

/** A flag in an environment. */
type FlagEnvironment = {
  readonly flag: string;
  readonly environment: string;
  readonly name: string;
  readonly environmentName: string;
  /** The switch when it was last seen. The flag may have left the page since, because it no longer matches a filter. */
  readonly seen: SwitchState;
};

/** The fields of a switch for the server: the revision that the user saw, and the label of the button to render. */
type SwitchState = { readonly revision: string; readonly label: string };

/** The options of a switch. */
type SwitchOptions = {
  readonly isUndo?: boolean;
  /** The reason that the user gave in the dialog, maybe empty; none if the switch does not ask. */
  readonly reason?: string | undefined;
};

/** A switch without the new state in the response: the server's refusal, or else a lead that tells the outcome. */
type Failure = { readonly code?: string; readonly lead?: string; readonly message: string };

/** Makes the switches of a page instant. Without scripts, they are forms with one button. */
export function listenToSwitches(): void {
  on("submit", ".switch-form", (form: HTMLFormElement, event) => {
    if (buttonOf(form)?.ariaBusy === "true") {
      event.preventDefault();
    } else if (form.dataset.effect === undefined) {
      event.preventDefault();
      void switchTo(flagEnvironmentOf(form), !isOn(form));
    } else if (askToConfirm(form)) {
      event.preventDefault();
    }
  });
}

function flagEnvironmentOf(form: HTMLFormElement): FlagEnvironment {
  const { name = "", environmentName = "" } = form.dataset;
  return {
    flag: field(form, "flag"),
    environment: field(form, "environment"),
    name,
    environmentName,
    seen: stateIn(form),
  };
}

function stateIn(form: ParentNode): SwitchState {
  return {
    revision: form.querySelector<HTMLInputElement>("[name=revision]")?.value ?? "",
    label: form.querySelector("button")?.ariaLabel ?? "",
  };
}

function field(form: HTMLFormElement, name: string): string {
  return String(new FormData(form).get(name) ?? "");
}

function buttonOf(form: HTMLFormElement): HTMLButtonElement | null {
  return form.querySelector("button");
}

function isOn(form: HTMLFormElement): boolean {
  return buttonOf(form)?.ariaChecked === "true";
}

/** Returns the forms of a flag in an environment; a page may have several. */
function formsOf({ flag, environment }: FlagEnvironment): HTMLFormElement[] {
  const all = document.querySelectorAll<HTMLFormElement>(".switch-form");
  return [...all].filter(
    (form) => field(form, "flag") === flag && field(form, "environment") === environment,
  );
}

/**
 * Asks for confirmation, and again if the effect has changed before the user confirms. Returns false if the page lacks
 * a part of the dialog. The form then opens the page that asks.
 */
function askToConfirm(form: HTMLFormElement): boolean {
  const dialog = document.querySelector<HTMLDialogElement>("#switch-question");
  const title = dialog?.querySelector("#question-title");
  const effect = dialog?.querySelector("#question-effect");
  const reason = dialog?.querySelector<HTMLTextAreaElement>("#question-reason");
  const confirm = dialog?.querySelector<HTMLButtonElement>("[data-confirm]");
  const cancel = dialog?.querySelector<HTMLButtonElement>("[data-cancel]");
  if (!dialog || !title || !effect || !reason || !confirm || !cancel) {
    return false;
  }
  const target = flagEnvironmentOf(form);
  const on = !isOn(form);
  const verb = on ? "Turn on" : "Turn off";
  title.textContent = `${verb} ${target.name} in ${target.environmentName}?`;
  effect.textContent = effectOf(form);
  confirm.textContent = `${verb} in ${target.environmentName}`;
  reason.required = form.dataset.needsReason !== undefined;
  dialog.querySelector(".optional")?.toggleAttribute("hidden", reason.required);
  cancel.onclick = () => dialog.close();
  confirm.onclick = () => {
    // A blank reason counts as none.
    reason.value = reason.value.trim();
    if (!reason.reportValidity()) {
      return;
    }
    const [current] = formsOf(target);
    if (current !== undefined && effectOf(current) !== effect.textContent) {
      askToConfirm(current);
    } else {
      dialog.close();
      void switchTo(target, on, { reason: reason.value });
    }
  };
  if (!dialog.open) {
    reason.value = "";
    dialog.showModal();
    if (reason.required) {
      reason.focus();
    }
  }
  return true;
}

/** The effect of pressing a switch that asks. */
function effectOf(form: HTMLFormElement): string {
  return isOn(form)
    ? `The flag turns off for everyone ${form.dataset.within}.`
    : (form.dataset.effect ?? "");
}

/** Switches a flag, and shows the switch as the server renders it afterwards. */
async function switchTo(
  target: FlagEnvironment,
  on: boolean,
  { isUndo = false, reason }: SwitchOptions = {},
): Promise<void> {
  const [first] = formsOf(target);
  const fields = {
    flag: target.flag,
    environment: target.environment,
    enabled: String(on),
    ...(first === undefined ? target.seen : stateIn(first)),
  };
  closeMessage();
  setState(target, on, true);
  const label = `${target.name} in ${target.environmentName}`;
  const waiting = setTimeout(
    () => showMessage(`Waiting for an answer. ${label} may not be switched yet.`, {}),
    waitingMessageDelay,
  );
  const result = await send(fields, reason);
  clearTimeout(waiting);
  const isSwitched = typeof result === "string";
  if (isSwitched) {
    const template = document.createElement("template");
    template.innerHTML = result;
    for (const form of formsOf(target)) {
      updateForm(form, template.content);
    }
    const after = { ...target, seen: stateIn(template.content) };
    showMessage(
      `${target.name} is ${on ? "on" : "off"}${isUndo ? " again" : ""} in ${target.environmentName}.`,
      {
        undo: isUndo ? undefined : () => void switchTo(after, !on, { isUndo: true, reason }),
      },
    );
  } else {
    setState(target, !on, false);
    showFailure(result);
  }
  document.dispatchEvent(new CustomEvent(switchSettled, { detail: isSwitched }));
}

/**
 * Posts the fields of a switch, confirmed if there is a reason, even an empty one. The response is the switch as HTML.
 */
async function send(
  fields: Record<string, string>,
  reason: string | undefined,
): Promise<string | Failure> {
  const id = requestId();
  ownRequests.add(id);
  const isOffline = !navigator.onLine;
  try {
    const headers: Record<string, string> = { "x-request-id": id };
    if (reason !== undefined) {
      headers["x-change-confirmed"] = "true";
    }
    if (reason?.trim()) {
      headers["x-change-reason"] = encodeURIComponent(reason);
    }
    const response = await post(switchAddress, fields, headers);
    return await answerOf(response);
  } catch {
    return isOffline
      ? { message: "You are offline. Try again once you are connected." }
      : {
          lead: "No answer arrived.",
          message:
            "The change may have happened or not. The page shows the state as soon as Pennon can be reached.",
        };
  }
}

async function answerOf(response: Response): Promise<string | Failure> {
  const answer: unknown = await response.json().catch(() => undefined);
  if (typeof answer === "string" || isFailure(answer)) {
    return answer;
  }
  return {
    lead: "Unexpected answer.",
    message: "The change may have happened or not. Reload the page to see the current state.",
  };
}

/** Returns true if the dashboard itself has answered, and not the server before the request reached it, or a proxy. */
function isFailure(answer: unknown): answer is Failure {
  return typeof (answer as Partial<Failure> | null | undefined)?.message === "string";
}

/** Returns a random request id. `crypto.randomUUID` exists on secure origins only. */
function requestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function setState(target: FlagEnvironment, on: boolean, isBusy: boolean): void {
  for (const button of formsOf(target).map(buttonOf)) {
    if (button !== null) {
      button.ariaChecked = String(on);
      button.ariaBusy = isBusy ? "true" : null;
    }
  }
}

/** Replaces the fields of a form that differ after switching. */
function updateForm(form: HTMLFormElement, fields: DocumentFragment): void {
  const button = buttonOf(form);
  const hasFocus = button === document.activeElement;
  form.querySelector("[name=revision]")?.remove();
  button?.replaceWith(fields.cloneNode(true));
  if (hasFocus) {
    buttonOf(form)?.focus();
  }
}

function showFailure({ code, lead, message }: Failure): void {
  const text = new DocumentFragment();
  const strong = document.createElement("strong");
  const isUnknown = code === "OutcomeUnknown";
  strong.textContent = `${lead ?? (isUnknown ? "Maybe not switched." : "Not switched.")} `;
  text.append(strong, message);
  if (code === "SignedOut") {
    text.append(" ", link(signInAddress, "Sign in"));
  } else if (code === "Stale" || isUnknown) {
    text.append(" ", link("", "Show the current state"));
  }
  showMessage(text, { isRefusal: true });
}
