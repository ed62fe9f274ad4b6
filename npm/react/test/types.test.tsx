import type { EvaluationContext, FeatureFlagsClient, Reason } from "@pennon/core";
import {
  Feature,
  FeatureFlagsProvider,
  type FlagDetails,
  type FlagsStatus,
  useFeatureFlagsClient,
  useFlag,
  useFlagDetails,
  useFlags,
  useFlagsStatus,
  useSuspenseFlag,
} from "@pennon/react";
import { describe, expectTypeOf, it } from "vitest";

interface Plan {
  readonly plan: string;
}

/** Compiled, never called. */
export function compiled(client: FeatureFlagsClient, plan: Plan, context: EvaluationContext) {
  const options = { sdkKey: "pnk_…" };
  return [
    <FeatureFlagsProvider key="1" client={client} context={context} />,
    <FeatureFlagsProvider key="2" options={options} context={{ customAttributes: plan }} />,
    <FeatureFlagsProvider key="3" options={options} context={null} bootstrap={client.snapshot()}>
      <Feature flag="anything" fallback="off">
        on
      </Feature>
    </FeatureFlagsProvider>,
    // @ts-expect-error: neither a client nor options.
    <FeatureFlagsProvider key="4" />,
    // @ts-expect-error: both.
    <FeatureFlagsProvider key="5" client={client} options={options} />,
    // @ts-expect-error: a user's id is a string.
    <FeatureFlagsProvider key="6" client={client} context={{ userId: 3 }} />,
    // @ts-expect-error: neither a string nor a number nor a boolean.
    <FeatureFlagsProvider key="7" client={client} context={{ customAttributes: { x: [] } }} />,
    // @ts-expect-error: which flag?
    <Feature key="8" />,
  ];
}

describe("the types", () => {
  it("match the documentation", () => {
    expectTypeOf(useFlag).returns.toEqualTypeOf<boolean>();
    expectTypeOf(useSuspenseFlag).returns.toEqualTypeOf<boolean>();
    expectTypeOf(useFlag).parameter(0).toEqualTypeOf<string>();
    expectTypeOf(useFlag).parameter(1).toEqualTypeOf<boolean | undefined>();
    expectTypeOf(useFlagDetails).returns.toEqualTypeOf<FlagDetails>();
    expectTypeOf<FlagDetails>().toEqualTypeOf<{
      readonly value: boolean;
      readonly reason: Reason | undefined;
      readonly loading: boolean;
    }>();
    expectTypeOf(() => useFlags()).returns.toEqualTypeOf<
      Readonly<Partial<Record<string, boolean>>>
    >();
    expectTypeOf(() => useFlags(["a", "b"])).returns.toEqualTypeOf<
      Readonly<Record<"a" | "b", boolean>>
    >();
    expectTypeOf(useFlagsStatus).returns.toEqualTypeOf<FlagsStatus>();
    expectTypeOf(useFeatureFlagsClient).returns.toEqualTypeOf<FeatureFlagsClient>();
  });
});
