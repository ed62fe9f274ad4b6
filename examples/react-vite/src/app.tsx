import { FeatureFlagsProvider } from "@pennon/react";
import { useState } from "react";
import { Checkout } from "./checkout.tsx";
import { Flags } from "./flags.tsx";
import { Status } from "./status.tsx";

const options = {
  // Anyone can read the key in the bundle. Use the key of a public environment.
  sdkKey: import.meta.env.VITE_PENNON_SDK_KEY,
  baseUrl: import.meta.env.VITE_PENNON_URL,
  // Changes arrive at once instead of with the next poll.
  streaming: true,
  // While Pennon is unreachable, flags keep their values.
  staleIfError: true,
};

/** The users to choose from. Your application has a sign-in instead. */
const people = [
  { userId: "ada", country: "GB", customAttributes: { seats: 12 } },
  { userId: "grace", country: "US", customAttributes: { seats: 3 } },
  { userId: "linus", country: "FI", customAttributes: { seats: 40 } },
];

export function App() {
  const [userId, setUserId] = useState("ada");
  if (!options.sdkKey) {
    return <p role="alert">VITE_PENNON_SDK_KEY is not set. Set it, then restart Vite.</p>;
  }
  const user = people.find((person) => person.userId === userId);
  return (
    <FeatureFlagsProvider options={options} context={user}>
      <main>
        <h1>Shop</h1>
        <label>
          Signed in as{" "}
          <select value={userId} onChange={(event) => setUserId(event.target.value)}>
            {people.map((person) => (
              <option key={person.userId}>{person.userId}</option>
            ))}
          </select>
        </label>
        <Status />
        <Checkout />
        <Flags />
      </main>
    </FeatureFlagsProvider>
  );
}
