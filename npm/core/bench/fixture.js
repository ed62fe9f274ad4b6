// The measured configuration of 10,000 flags, and the contexts for which they are evaluated.

const COUNTRIES = ["DE", "FR", "US", "JP"];
const USERS = Array.from({ length: 1_024 }, (_, number) => `user-${number}`);

const FLAGS = 10_000;

/** The config document as text, as the server writes it. */
export const configuration = JSON.stringify({ flags: Array.from({ length: FLAGS }, flag) });

/** All keys in random order. They are not the same string objects as those in the configuration. */
export const keys = shuffled(Array.from({ length: FLAGS }, (_, index) => key(index)));

/** The keys that one application uses. */
export const FEW = keys.slice(0, 16);

/** A flag with a rule, and one with a rollout. */
export const RULED = key(5_008);
export const ROLLED_OUT = key(5_009);

/** Returns a new context for each number, with so many values that successive contexts differ. */
export function contextFor(number) {
  return {
    userId: USERS[number & 1_023],
    country: COUNTRIES[number & 3],
    customAttributes: { planLevel: (number >> 2) & 7 },
  };
}

/** Of ten flags, eight are only on or off, one has a rule of two conditions, and one a rollout. */
function flag(_, index) {
  return {
    key: key(index),
    enabled: index % 20 !== 3,
    rules: index % 10 === 8 ? [rule(index)] : [],
    rollout: index % 10 === 9 ? { percentage: 25, strategy: "per_user" } : null,
    ttlOverrideSeconds: null,
  };
}

function rule(index) {
  const country = COUNTRIES[(index >> 3) & 3];
  return {
    priority: 1,
    logic: "and",
    value: false,
    conditions: [
      { attribute: "country", operator: "==", valueType: "string", valueString: country },
      { attribute: "planLevel", operator: ">=", valueType: "number", valueInt: 3 },
    ],
  };
}

function key(index) {
  return `flag_${String(index).padStart(5, "0")}`;
}

/** Returns the items in pseudorandom order, which is the same in each run. */
function shuffled(items) {
  let state = 1;
  for (let last = items.length - 1; last > 0; last -= 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const other = state % (last + 1);
    [items[last], items[other]] = [items[other], items[last]];
  }
  return items;
}
