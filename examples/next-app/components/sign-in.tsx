import { cookies } from "next/headers";
import { currentUser, users } from "@/users";

async function signIn(form: FormData) {
  "use server";
  (await cookies()).set("user", String(form.get("user")));
}

export async function SignIn() {
  const user = await currentUser();
  return (
    <form action={signIn}>
      Signed in as
      {users.map(({ userId }) => (
        <button
          key={userId}
          type="submit"
          name="user"
          value={userId}
          aria-pressed={userId === user?.userId}
        >
          {userId}
        </button>
      ))}
    </form>
  );
}
