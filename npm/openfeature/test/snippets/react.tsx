import { OpenFeature, OpenFeatureProvider, useBooleanFlagValue } from "@openfeature/react-sdk";
import { PennonWebProvider } from "@pennon/openfeature/web";

OpenFeature.setProvider(new PennonWebProvider({ sdkKey: "pnp_your_key" }), { targetingKey: "ada" });

function Checkout() {
  return useBooleanFlagValue("new_checkout", false) ? <p>New</p> : <p>Old</p>;
}

export function App() {
  return (
    <OpenFeatureProvider>
      <Checkout />
    </OpenFeatureProvider>
  );
}
