/** Returns the text of UTF-8 bytes. A U+FEFF at its start belongs to a key or name, and marks no byte order. */
export function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
