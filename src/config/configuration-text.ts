import { isUtf8 } from 'node:buffer';
import { isJson } from '../lib/document/index.ts';

/** A file that is not a configuration. The message is kube-proxy's: `failed to decode: …`. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/**
 * Decodes the bytes of a file as UTF-8, or as UTF-16 if the file begins with a byte order mark. If a YAML file is
 * neither, throws a ConfigurationError with the words of Go's parser. In a JSON file, U+FFFD replaces the wrong bytes.
 */
export function configurationText(bytes: Buffer): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return fromUtf16(bytes.subarray(2), 'utf-16le');
  if (first === 0xfe && second === 0xff) return fromUtf16(bytes.subarray(2), 'utf-16be');
  const text = bytes.toString('utf8');
  if (!isUtf8(bytes) && !isJson(text)) throw notYaml(octetProblem(bytes));
  return text;
}

function fromUtf16(bytes: Buffer, encoding: 'utf-16le' | 'utf-16be'): string {
  if (bytes.length % 2 !== 0) throw notYaml('incomplete UTF-16 character');
  return new TextDecoder(encoding).decode(bytes);
}

function notYaml(words: string): ConfigurationError {
  return new ConfigurationError(`failed to decode: yaml: ${words}`);
}

/** Explains the first sequence of octets that is not a character. */
function octetProblem(bytes: Buffer): string {
  for (let at = 0; at < bytes.length; ) {
    const width = widthOf(bytes[at] ?? 0);
    if (width === 0) return 'invalid leading UTF-8 octet';
    const sequence = bytes.subarray(at, at + width);
    if (sequence.length < width) return 'incomplete UTF-8 octet sequence';
    if (sequence.subarray(1).some(octet => octet >> 6 !== 0b10)) return 'invalid trailing UTF-8 octet';
    if (!isUtf8(sequence))
      return isOverlong(sequence) ? 'invalid length of a UTF-8 sequence' : 'invalid Unicode character';
    at += width;
  }
  return 'invalid leading UTF-8 octet';
}

function widthOf(leading: number): number {
  if (leading < 0x80) return 1;
  if (leading >> 5 === 0b110) return 2;
  if (leading >> 4 === 0b1110) return 3;
  return leading >> 3 === 0b11110 ? 4 : 0;
}

/** Whether fewer octets could encode the same character. */
function isOverlong([leading = 0, second = 0]: Buffer): boolean {
  return leading < 0xc2 || (leading === 0xe0 && second < 0xa0) || (leading === 0xf0 && second < 0x90);
}
