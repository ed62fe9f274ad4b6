import { Feature, FeatureFlagsProvider, useFlag } from "@pennon/react";

const options = {
  sdkKey: import.meta.env.VITE_PENNON_SDK_KEY,
  baseUrl: "https://flags.example.com",
  streaming: true, // changes arrive at once instead of with the next poll
};

export function App({ user }: { user: { id: string; country: string } }) {
  return (
    <FeatureFlagsProvider options={options} context={{ userId: user.id, country: user.country }}>
      <Checkout />
    </FeatureFlagsProvider>
  );
}

export function Checkout() {
  const isNew = useFlag("new_checkout");
  return (
    <>
      <button type="button">{isNew ? "Buy now" : "Check out"}</button>
      <Feature flag="banner" fallback={<p>Welcome</p>}>
        <p>Free delivery this week</p>
      </Feature>
    </>
  );
}
