import type { FeatureFlagsClient, FeatureFlagsClientOptions } from "@pennon/core";
import { useFeatureFlagsClient, useFlag } from "@pennon/react";
import { act, type ReactNode } from "react";
import { createRoot, hydrateRoot, type Root } from "react-dom/client";
import { onTestFinished } from "vitest";
import { readyClient } from "../../test-kit/clients.ts";
import { configuration, type FlagConfig, ScriptedServer } from "../../test-kit/scripted.ts";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

/** A mounted page. */
export interface Page {
  readonly text: () => string | null;
  readonly rerender: (element: ReactNode) => Promise<void>;
  readonly unmount: () => Promise<void>;
}

export async function render(element: ReactNode): Promise<Page> {
  const container = document.createElement("div");
  const root = createRoot(container);
  await act(async () => root.render(element));
  return pageOf(container, root);
}

/** Hydrates the HTML of a server. `complaints` are React's errors about differences from it. */
export async function hydrate(
  html: string,
  element: ReactNode,
): Promise<Page & { readonly complaints: readonly unknown[] }> {
  const container = document.createElement("div");
  container.innerHTML = html;
  const complaints: unknown[] = [];
  const root = await act(async () =>
    hydrateRoot(container, element, {
      onRecoverableError: (error) => complaints.push(error),
    }),
  );
  return { ...pageOf(container, root), complaints };
}

function pageOf(container: HTMLElement, root: Root): Page {
  onTestFinished(() => act(async () => root.unmount()));
  return {
    text: () => container.textContent,
    rerender: (element) => act(async () => root.render(element)),
    unmount: () => act(async () => root.unmount()),
  };
}

/** Starts a server with these flags, and a client that has fetched them. */
export async function ready(
  flags: readonly FlagConfig[],
  options: Partial<FeatureFlagsClientOptions> = {},
) {
  const server = new ScriptedServer(configuration(flags));
  const client = await readyClient(server, options);
  return { server, client };
}

let tags = 0;

/** Replaces the flags of the server, and makes the client fetch them. */
export async function change(
  server: ScriptedServer,
  client: FeatureFlagsClient,
  flags: readonly FlagConfig[],
): Promise<void> {
  tags += 1;
  server.respondWith(configuration(flags, `W/"changed ${tags}"`));
  await act(() => client.refresh());
}

/** Shows one flag, and records each render in `renders`. */
export function Flag({
  name,
  fallback,
  renders,
}: {
  readonly name: string;
  readonly fallback?: boolean;
  readonly renders?: string[];
}) {
  const isOn = useFlag(name, fallback);
  renders?.push(name);
  return <i>{`${name} is ${isOn ? "on" : "off"}.`}</i>;
}

/** Passes its client to the test. */
export function Client({ give }: { readonly give: (client: FeatureFlagsClient) => void }) {
  give(useFeatureFlagsClient());
  return null;
}
