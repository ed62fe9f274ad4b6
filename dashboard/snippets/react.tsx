import { FeatureFlagsProvider, useFlag } from "@pennon/react";

const options = {
  sdkKey: import.meta.env.VITE_PENNON_SDK_KEY,
  baseUrl: "https://flags.example.com",
  streaming: true, // changes arrive at once
};

export function App() {
  return (
    <FeatureFlagsProvider options={options} context={{ userId: "ada", country: "GB" }}>
      <Checkout />
    </FeatureFlagsProvider>
  );
}

function Checkout() {
  const isNew = useFlag("new_checkout");
  return <button type="button">{isNew ? "Buy now" : "Check out"}</button>;
}
