// An application with registered flags. It is compiled but never run.

import { Feature, useFlag, useFlagDetails, useFlags, useSuspenseFlag } from "@pennon/react";

export function Page() {
  const checkout: boolean = useFlag("new_checkout");
  const { banner } = useFlags(["banner"]);
  const { value } = useFlagDetails("banner");
  const all = useFlags();
  // @ts-expect-error: a misspelt key.
  useFlag("new_chekout");
  // @ts-expect-error: the same.
  useFlagDetails("new_chekout");
  // @ts-expect-error: the same.
  useSuspenseFlag("new_chekout");
  // @ts-expect-error: the same.
  useFlags(["banner", "new_chekout"]);
  // @ts-expect-error: the same.
  all.new_chekout;
  // @ts-expect-error: there are no flags until they arrive.
  all.banner satisfies boolean;
  // @ts-expect-error: the key was not read.
  useFlags(["banner"]).new_checkout;
  return (
    <>
      <Feature flag="banner">{String([checkout, banner, value, all.banner])}</Feature>
      {/* @ts-expect-error: a misspelt key. */}
      <Feature flag="baner" />
    </>
  );
}
