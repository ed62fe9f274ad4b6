// The same flags in the format of each service.

/** 100 flags. Half of them have a rule. */
const flags = Array.from({ length: 100 }, (_, number) => ({
  key: `feature-${String(number).padStart(3, "0")}`,
  hasRule: number % 2 === 0,
}));

/** The values that the rule compares. */
const COUNTRY = "DE";
const PLAN = "premium";

/** The config document of Pennon. */
export const pennon = {
  format: 1,
  flags: flags.map(({ key, hasRule }) => ({
    key,
    enabled: true,
    rules: hasRule ? [rule()] : [],
    rollout: null,
    ttlOverrideSeconds: null,
  })),
};

/** Pennon's evaluations for the user. */
export const pennonRemote = {
  flags: flags.map(({ key, hasRule }) => ({
    key,
    enabled: true,
    reason: hasRule ? "targeting_rule" : "flag_enabled",
    ttlOverrideSeconds: null,
  })),
};

/** Pennon's bootstrap for the user. */
export const pennonBootstrap = {
  version: 1,
  flags: flags.map(({ key, hasRule }) => ({
    key,
    enabled: true,
    reason: "flag_enabled",
    targeted: hasRule,
  })),
  subject: {
    context: { userId: "user-1", country: COUNTRY, customAttributes: { plan: PLAN } },
    flags: flags
      .filter(({ hasRule }) => hasRule)
      .map(({ key }) => ({ key, enabled: true, reason: "targeting_rule" })),
  },
};

/** GrowthBook's features. */
export const growthBook = {
  status: 200,
  features: Object.fromEntries(
    flags.map(({ key, hasRule }) => [
      key,
      hasRule
        ? {
            defaultValue: false,
            rules: [{ id: `fr_${key}`, condition: { country: COUNTRY, plan: PLAN }, force: true }],
          }
        : { defaultValue: true },
    ]),
  ),
  dateUpdated: "2026-01-01T00:00:00.000Z",
};

/** LaunchDarkly's evaluations for the user. */
export const launchDarkly = Object.fromEntries(
  flags.map(({ key }) => [
    key,
    { version: 1, flagVersion: 1, value: true, variation: 0, trackEvents: false },
  ]),
);

/** Unleash's evaluations for the user. */
export const unleash = {
  toggles: flags.map(({ key }) => ({
    name: key,
    enabled: true,
    variant: { name: "disabled", enabled: false, feature_enabled: true },
    impressionData: false,
  })),
};

function rule() {
  const conditions = [
    ["country", COUNTRY],
    ["plan", PLAN],
  ].map(([attribute, valueString]) => ({
    attribute,
    operator: "==",
    valueType: "string",
    valueString,
  }));
  return { priority: 1, logic: "and", value: true, conditions };
}
