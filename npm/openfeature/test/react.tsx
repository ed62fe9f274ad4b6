import {
  OpenFeatureProvider,
  useBooleanFlagDetails,
  useNumberFlagDetails,
  useObjectFlagDetails,
  useStringFlagDetails,
} from "@openfeature/react-sdk";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { type Application, type Details, FALLBACKS, type Given, type Kind } from "./application.ts";
import { web } from "./web.ts";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

interface Asked {
  readonly name: string;
  readonly kind: Kind;
  /** Called with the shown content at every render. */
  readonly show: (details: Details) => void;
}

/** A page with one flag, which renders again when React requests it. */
export async function react(given: Given): Promise<Application> {
  const app = await web(given);
  const root = createRoot(document.createElement("main"));
  let shown: (Details & { readonly asked: string }) | undefined;
  return {
    ...app,
    process: (action) => act(action),
    setContext: (context) => act(() => app.setContext(context)),
    evaluate: async (name, kind = "boolean") => {
      const asked = `${kind} ${name}`;
      if (shown?.asked !== asked) {
        const show = (details: Details) => {
          shown = { ...details, asked };
        };
        await act(async () =>
          root.render(
            <OpenFeatureProvider>
              <Flag key={asked} {...{ name, kind, show }} />
            </OpenFeatureProvider>,
          ),
        );
      }
      return shown as unknown as Details;
    },
    close: async () => {
      await act(async () => root.unmount());
      await act(() => app.close());
    },
  };
}

const HOOKS = {
  boolean: useBooleanFlagDetails,
  true: useBooleanFlagDetails,
  string: useStringFlagDetails,
  number: useNumberFlagDetails,
  object: useObjectFlagDetails,
} as Record<Kind, (key: string, fallback: unknown) => Details>;

function Flag({ name, kind, show }: Asked) {
  // The type of a component never changes, because it is part of its key.
  show(HOOKS[kind](name, FALLBACKS[kind]));
  return null;
}
