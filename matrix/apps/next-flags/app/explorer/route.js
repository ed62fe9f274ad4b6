import { getProviderData } from "@pennon/next/flags";

export async function GET() {
  return Response.json(await getProviderData());
}
