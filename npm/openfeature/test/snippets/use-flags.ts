import { InMemoryProvider, OpenFeature } from "@openfeature/server-sdk";

/** Replaces the provider by one for which these flags are on, and no others exist. */
export async function useFlags(...keys: string[]) {
  const flag = {
    variants: { on: true, off: false },
    defaultVariant: "on",
    disabled: false,
  } as const;
  const flags = Object.fromEntries(keys.map((key) => [key, flag]));
  await OpenFeature.setProviderAndWait(new InMemoryProvider(flags));
}
