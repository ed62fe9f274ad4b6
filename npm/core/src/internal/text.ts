// The build injects these in place of the globals. Every platform has them, but Jest hides them from tests under jsdom.
// There, `find` returns those of Node.js.

type Text = Pick<typeof globalThis, "TextDecoder" | "TextEncoder">;

function find<Name extends keyof Text>(name: Name): Text[Name] {
  const { process } = globalThis as { process?: { getBuiltinModule?(module: string): Text } };
  return globalThis[name] ?? process?.getBuiltinModule?.("node:util")[name];
}

export const TextDecoder: Text["TextDecoder"] = /* @__PURE__ */ find("TextDecoder");
export const TextEncoder: Text["TextEncoder"] = /* @__PURE__ */ find("TextEncoder");
