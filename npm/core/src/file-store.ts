import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { DEFAULT_MAX_AGE_SECONDS, type Store, type StoreOptions } from "./store.js";

export type { Store, StoreOptions } from "./store.js";

/** The age from which a temporary file is not in use, but left over from a process that ended while it saved. */
const LEFT_OVER_MS = 60_000;

/** The end of a temporary file's name, after the name of the document. */
const SUFFIX = /^\.[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\.tmp$/;

/**
 * Stores the config document in a file that only its owner can read and write (mode 0600). The file is replaced
 * atomically: a process that is killed while it saves leaves the file as it was. The folder must exist. Several
 * processes can share a file. Await `shutdown()` before `process.exit()`, or the document may not be saved.
 */
export function fileStore(
  path: string,
  { maxAgeSeconds = DEFAULT_MAX_AGE_SECONDS }: StoreOptions = {},
): Store {
  let saving = Promise.resolve();
  let waiting: string | undefined;
  let isClean = false;
  return {
    maxAgeSeconds,
    load() {
      try {
        return readFileSync(path, "utf8");
      } catch (error) {
        if ((error as { readonly code?: unknown }).code === "ENOENT") {
          return undefined;
        }
        throw error;
      }
    },
    save(text) {
      const isFirst = waiting === undefined;
      waiting = text;
      if (isFirst) {
        // One save at a time; of the waiting texts, only the newest is saved.
        saving = saving
          .catch(() => {})
          .then(() => {
            const newest = waiting ?? text;
            waiting = undefined;
            if (!isClean) {
              isClean = true;
              removeLeftOvers(path);
            }
            return replace(path, newest);
          });
      }
      return saving;
    },
  };
}

/** Writes a temporary file beside this one and renames it, so that the file is complete at every moment. */
async function replace(path: string, text: string): Promise<void> {
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/**
 * Deletes temporary files that are left over, each with a copy of the document. Never throws. It is synchronous,
 * because a process may end while it saves at each of its runs, and would end before it had deleted any.
 */
function removeLeftOvers(path: string): void {
  const document = basename(path);
  let names: string[] = [];
  try {
    names = readdirSync(dirname(path));
  } catch {
    // The folder may be writable only.
  }
  for (const name of names) {
    const suffix = name.slice(document.length);
    const file = path + suffix;
    try {
      const isTemporary = name === document + suffix && SUFFIX.test(suffix);
      if (isTemporary && Date.now() - statSync(file).mtimeMs > LEFT_OVER_MS) {
        rmSync(file);
      }
    } catch {
      // Another process has deleted it, or it belongs to another user.
    }
  }
}
