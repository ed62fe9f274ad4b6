import { FeatureFlagsProvider } from "@pennon/react";
import { useState } from "react";
import { Checkout } from "./checkout.tsx";
import { Flags } from "./flags.tsx";
import { Status } from "./status.tsx";

const options = {
  // Everybody can read what is in a bundle: only flags that are no secret belong into this key's environment.
  sdkKey: import.meta.env.PENNON_SDK_KEY,
  baseUrl: import.meta.env.PENNON_URL,
  // A change arrives at once, and not with the next poll.
  streaming: true,
};

/** Who may be signed in. */
const people = [
  { userId: "ada", country: "GB", customAttributes: { seats: 12 } },
  { userId: "grace", country: "US", customAttributes: { seats: 3 } },
  { userId: "linus", country: "FI", customAttributes: { seats: 40 } },
];

export function App() {
  const [userId, setUserId] = useState("ada");
  return (
    <FeatureFlagsProvider
      options={options}
      context={people.find((person) => person.userId === userId)}
    >
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
