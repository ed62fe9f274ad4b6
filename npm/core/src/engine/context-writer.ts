import { isObject, type Members, membersIn, ORDINARY } from "../internal/attributes.js";
import type { WasmExports } from "./bindings.js";
import { attributeIn, stringOrNone } from "./read-attribute.js";
import { Slots } from "./slots.js";

/** Writes contexts to the engine's slots. */
export class ContextWriter {
  readonly #slots: Slots;
  /** True while attributes are written to the slots as they are read. */
  #isWriting = false;

  constructor(wasm: WasmExports["wasm"]) {
    this.#slots = new Slots(wasm);
  }

  /** Writes the attributes with these names. */
  write(names: readonly string[], context: unknown): void {
    if (!this.#isWriting) {
      this.#isWriting = true;
      if (!this.#writeOrdinary(names, context)) {
        this.#writeEach(names, context);
      }
      if (this.#isWriting) {
        this.#isWriting = false;
        return;
      }
    }
    // A getter of a context evaluates another flag, whose attributes are written to the same slots.
    this.#isWriting = false;
    this.#writeAll(names, context);
  }

  /** Writes a context whose members are all its own. Returns false if another one is given, or if reading it fails. */
  #writeOrdinary(names: readonly string[], context: unknown): boolean {
    if (!isObject(context)) {
      return false;
    }
    try {
      const { customAttributes } = context;
      // The compiler knows the prototype of most contexts, because a member has just been read.
      if (Object.getPrototypeOf(context) !== Object.prototype || isPolluted()) {
        return false;
      }
      const slots = this.#slots;
      let custom: Members | undefined;
      slots.begin(names.length);
      for (let slot = 0; slot < names.length; slot += 1) {
        const name = names[slot] ?? "";
        let value: unknown;
        // Each member is read in an expression of its own, so that the compiler can cache its offset.
        switch (name) {
          case "userId":
            value = stringOrNone(context.userId);
            break;
          case "tenantId":
            value = stringOrNone(context.tenantId);
            break;
          case "email":
            value = stringOrNone(context.email);
            break;
          case "country":
            value = stringOrNone(context.country);
            break;
          default:
            custom ??= membersIn(customAttributes);
            value = custom[name];
            if (Object.getPrototypeOf(custom) !== Object.prototype) {
              return false;
            }
        }
        slots.write(slot, value);
      }
      return true;
    } catch {
      return false;
    }
  }

  /** Writes the attributes of any context. */
  #writeEach(names: readonly string[], context: unknown): void {
    this.#slots.begin(names.length);
    for (let slot = 0; slot < names.length; slot += 1) {
      this.#slots.write(slot, attributeIn(context, names[slot] ?? ""));
    }
  }

  /** Reads the attributes of any context, and then writes them. */
  #writeAll(names: readonly string[], context: unknown): void {
    const values = names.map((name) => attributeIn(context, name));
    this.#slots.begin(values.length);
    for (const [slot, value] of values.entries()) {
      this.#slots.write(slot, value);
    }
  }
}

/** Returns true if somebody has added enumerable members to all objects. */
function isPolluted(): boolean {
  for (const _name in ORDINARY) {
    return true;
  }
  return false;
}
