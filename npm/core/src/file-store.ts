import { readFileSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { DEFAULT_MAX_AGE_SECONDS, type Store, type StoreOptions } from "./store.js";

export type { Store, StoreOptions } from "./store.js";

/**
 * Stores the config document in a file, which only its owner may read and write. A process that is killed in the middle leaves
 * the file as it was. The folder must exist. Several processes may share a file.
 */
export function fileStore(
  path: string,
  { maxAgeSeconds = DEFAULT_MAX_AGE_SECONDS }: StoreOptions = {},
): Store {
  let saving = Promise.resolve();
  let waiting: string | undefined;
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
        // One after the other; of those that wait, only the newest.
        saving = saving
          .catch(() => {})
          .then(() => {
            const newest = waiting ?? text;
            waiting = undefined;
            return replace(path, newest);
          });
      }
      return saving;
    },
  };
}

/** Writes a file beside this one and puts it in its place, so that there is a whole one at every moment. */
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
