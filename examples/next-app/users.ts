import { cookies } from "next/headers";

/** Who may be signed in. */
export const users = [
  { userId: "ada", country: "GB", customAttributes: { seats: 12 } },
  { userId: "grace", country: "US", customAttributes: { seats: 3 } },
  { userId: "linus", country: "FI", customAttributes: { seats: 40 } },
];

/** Where there is a sign-in, it knows who this is. */
export async function currentUser() {
  const userId = (await cookies()).get("user")?.value ?? "ada";
  return users.find((user) => user.userId === userId);
}
