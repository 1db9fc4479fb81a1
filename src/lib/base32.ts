const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Base32 of RFC 4648 without padding. Bits after the last whole group of five are left out. */
export function base32(bytes: Uint8Array): string {
  let text = '';
  for (let bit = 0; bit + 5 <= bytes.length * 8; bit += 5) {
    const at = bit >> 3;
    const pair = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
    text += DIGITS[(pair >> (11 - (bit & 7))) & 31];
  }
  return text;
}
