import { pennonAdapter } from "@pennon/next/flags";
import { flag } from "flags/next";

export const banner = flag({ key: "banner", adapter: pennonAdapter });
