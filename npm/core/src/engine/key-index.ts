import { decode } from "./decode.js";

/**
 * The keys of a configuration by position: one sorted text with all keys, and the end of each in it.
 *
 * It is rebuilt for all flags at every fetch, although applications read few of them. With ten thousand strings and a
 * `Map` instead, building it would take much of the loading time and most of the heap.
 */
export class KeyIndex {
  readonly #text: Uint8Array;
  readonly #ends: Uint32Array;

  /** Creates the index of these keys: `text` is UTF-8, sorted by bytes. */
  constructor(text: Uint8Array, ends: Uint32Array) {
    this.#text = text;
    this.#ends = ends;
  }

  get size(): number {
    return this.#ends.length;
  }

  key(position: number): string {
    return decode(this.#text.subarray(this.#start(position), this.#ends[position]));
  }

  /** Returns the position of a key, or -1 if the configuration does not contain it. */
  find(key: string): number {
    const target = new TextEncoder().encode(key);
    let [low, high] = [0, this.size];
    while (low < high) {
      const middle = (low + high) >> 1;
      const order = this.#compare(middle, target);
      if (order === 0) {
        return middle;
      }
      if (order < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return -1;
  }

  /**
   * Returns a negative number if the key at this position sorts before the sought one, a positive number if it sorts
   * after, and 0 if they are equal.
   */
  #compare(position: number, target: Uint8Array): number {
    const start = this.#start(position);
    const length = (this.#ends[position] ?? start) - start;
    for (let index = 0; index < length && index < target.length; index += 1) {
      const difference = (this.#text[start + index] ?? 0) - (target[index] ?? 0);
      if (difference !== 0) {
        return difference;
      }
    }
    return length - target.length;
  }

  #start(position: number): number {
    return this.#ends[position - 1] ?? 0;
  }
}
