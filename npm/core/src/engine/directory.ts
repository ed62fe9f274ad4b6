/**
 * The keys of a configuration, each known by its position: one text of all of them, sorted, and where each ends in it.
 *
 * It is made at every fetch and for every flag, and applications ask for few of them. To make ten thousand strings, and a
 * `Map` of them, would take a good part of the time of loading, and most of the memory on the heap.
 */
export class Directory {
  readonly #text: Uint8Array;
  readonly #ends: Uint32Array;

  /** The keys in UTF-8, in the order of their bytes. */
  constructor(text: Uint8Array, ends: Uint32Array) {
    this.#text = text;
    this.#ends = ends;
  }

  get size(): number {
    return this.#ends.length;
  }

  key(position: number): string {
    return new TextDecoder().decode(
      this.#text.subarray(this.#start(position), this.#ends[position]),
    );
  }

  /** The position of a key, or -1 if it is not one. */
  find(key: string): number {
    const sought = new TextEncoder().encode(key);
    let [low, high] = [0, this.size];
    while (low < high) {
      const middle = (low + high) >> 1;
      const order = this.#compare(middle, sought);
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

  /** Whether the key at this position comes before (negative) or after (positive) the one that is sought. */
  #compare(position: number, sought: Uint8Array): number {
    const start = this.#start(position);
    const length = (this.#ends[position] ?? start) - start;
    for (let index = 0; index < length && index < sought.length; index += 1) {
      const difference = (this.#text[start + index] ?? 0) - (sought[index] ?? 0);
      if (difference !== 0) {
        return difference;
      }
    }
    return length - sought.length;
  }

  #start(position: number): number {
    return this.#ends[position - 1] ?? 0;
  }
}
