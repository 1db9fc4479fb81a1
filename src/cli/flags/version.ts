import { goQuote } from '../../lib/go-quote.ts';
import type { FlagType } from './flag.ts';
import { parseBool } from './numbers.ts';

export interface VersionChoice {
  /** `false`, `true`, `raw` or a version. With `true` and `raw`, the program prints the version and exits. */
  readonly choice: string;
  /** The version that the program reports. */
  readonly reported: string;
}

/** Accepts a version to report only if it differs from ours in the pre-release or build alone. */
export function version(ours: string): FlagType<VersionChoice> {
  return {
    word: 'version[=true]',
    bare: 'true',
    parse(text, { reported }) {
      if (text === 'raw') return { choice: text, reported };
      if (!text.startsWith('v')) return { choice: String(parseBool(text)), reported };
      if (text !== ours && numbersOf(text) !== numbersOf(ours)) {
        throw new Error(`version ${goQuote(text)} must match major/minor/patch of default version ${goQuote(ours)}`);
      }
      return { choice: text, reported: text };
    },
    format: ({ choice }) => choice,
  };
}

const WORD = '[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*';
const EXTRA = new RegExp(`^(?:-(${WORD}))?(?:\\+${WORD})?\\s*$`);

/** Returns `1.36.4` for `v1.36.4-eks-1`. Throws an Error if the text is not a semantic version. */
function numbersOf(text: string): string {
  const [, numbers, extra = ''] = /^v([0-9]+(?:\.[0-9]+)*)(.*)$/.exec(text) ?? [];
  if (numbers === undefined) throw new Error(`could not parse ${goQuote(text)} as version`);
  const parts = numbers.split('.');
  if (parts.length !== 3) throw new Error(`illegal version string ${goQuote(text)}`);
  const tooLarge = parts.find(part => BigInt(part) >= 2n ** 64n);
  if (tooLarge !== undefined) {
    const component = `illegal non-numeric version component ${goQuote(tooLarge)} in ${goQuote(text)}`;
    throw new Error(`${component}: strconv.ParseUint: parsing ${goQuote(tooLarge)}: value out of range`);
  }
  const extras = EXTRA.exec(extra);
  if (!extras) throw new Error(`could not parse pre-release/metadata (${extra}) in version ${goQuote(text)}`);
  const [, preRelease = ''] = extras;
  const zeroPrefixed = [...parts, ...preRelease.split('.')].find(part => /^0[0-9]+$/.test(part));
  if (zeroPrefixed !== undefined) {
    throw new Error(`illegal zero-prefixed version component ${goQuote(zeroPrefixed)} in ${goQuote(text)}`);
  }
  return numbers;
}
