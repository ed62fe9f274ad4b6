import { readFileSync } from "node:fs";
import type { EvaluationContext } from "@pennon/core";
import type { Pennon } from "../../test-kit/pennon.ts";
import type { FlagConfig } from "../../test-kit/scripted.ts";

export interface VectorCase {
  readonly description: string;
  readonly key: string;
  readonly context?: EvaluationContext | null;
  readonly expected: { readonly enabled: boolean; readonly reason: string } | null;
}

interface VectorFile {
  readonly config: { readonly flags: readonly (FlagConfig & { readonly archived?: boolean })[] };
  readonly cases: readonly VectorCase[];
}

const folder = new URL("../../../tests/vectors/", import.meta.url);

function read(file: string): unknown {
  return JSON.parse(readFileSync(new URL(file, folder), "utf8"));
}

/** The names of all vector files. */
export const vectorFiles = (read("index.json") as { readonly files: readonly string[] }).files;

/** Creates the flags of a vector file in an environment of the server, and returns their cases. */
export async function createVectorFlags(
  pennon: Pennon,
  environment: string,
  file: string,
): Promise<readonly VectorCase[]> {
  const { config, cases } = read(file) as VectorFile;
  for (const { key, enabled, archived, rules, rollout } of config.flags) {
    const flag = await pennon.request("POST", "/flags", { key, name: "A vector", type: "boolean" });
    const configuration = `/flags/${flag.id}/environments/${environment}`;
    for (const rule of rules) {
      await pennon.request("POST", `${configuration}/rules`, rule);
    }
    if (rollout) {
      await pennon.request("PUT", `${configuration}/rollout`, rollout);
    }
    if (archived) {
      await pennon.request("DELETE", `/flags/${flag.id}`);
    } else {
      await pennon.request("PUT", configuration, { isEnabled: enabled });
    }
  }
  return cases;
}
