import { cookies } from "next/headers";

/** The users to choose from. */
export const users = [
  { userId: "ada", country: "GB", customAttributes: { seats: 12 } },
  { userId: "grace", country: "US", customAttributes: { seats: 3 } },
  { userId: "linus", country: "FI", customAttributes: { seats: 40 } },
];

/** Returns the signed-in user. Replace it with your sign-in. */
export async function currentUser() {
  const userId = (await cookies()).get("user")?.value ?? "ada";
  return users.find((user) => user.userId === userId);
}
