/** A hash of 32 bits. All nodes and releases get the same one for the same text. */
export function hashText(text: string, seed: number): number {
  let hash = hashStart(seed);
  for (let i = 0; i < text.length; i++) hash = addToHash(hash, text.charCodeAt(i));
  return endHash(hash);
}

/** The start of a hash. Another seed gives another hash of the same bytes. */
export function hashStart(seed = 0): number {
  return (0x811c9dc5 ^ seed) >>> 0;
}

/** Adds a byte, or a small number, to a hash (FNV-1a with 32 bits). */
export function addToHash(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193) >>> 0;
}

/**
 * Ends a hash. Similar inputs must not get similar hashes, so every bit of the value changes every bit of the result.
 */
export function endHash(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
