import { execFile } from "node:child_process";

/** The environment of every tool: turns off telemetry, and colors in output that is parsed here. */
const quiet = {
  NO_COLOR: "1",
  FORCE_COLOR: "0",
  NEXT_TELEMETRY_DISABLED: "1",
  NEXT_IGNORE_INCORRECT_LOCKFILE: "1",
  DENO_NO_UPDATE_CHECK: "1",
  DO_NOT_TRACK: "1",
  CI: "1",
};

/** Returns the environment for tools, without variables that the test runner has set for itself, such as NODE_ENV. */
export function environment(): NodeJS.ProcessEnv {
  const { NODE_ENV: _, VITEST: __, NODE_OPTIONS: ___, ...rest } = process.env;
  return { ...(rest as NodeJS.ProcessEnv), ...quiet };
}

/** Runs a program to its end. Throws the program's output if it fails. */
export function run(
  program: string,
  arguments_: readonly string[],
  { cwd, env = {} }: { readonly cwd: string | URL; readonly env?: Record<string, string> },
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return new Promise((resolve, reject) => {
    const options = { cwd, env: { ...environment(), ...env }, maxBuffer: 64 << 20 };
    execFile(program, arguments_, options, (error, stdout, stderr) => {
      if (error === null) {
        resolve({ stdout, stderr });
      } else {
        const line = [program, ...arguments_].join(" ");
        reject(new Error(`\`${line}\` failed\n${stdout}\n${stderr}`, { cause: error }));
      }
    });
  });
}
