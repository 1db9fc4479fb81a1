import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const TOKEN = /--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g;
const tokens = new Map(
  [...readFileSync('src/page/app/style/tokens.css', 'utf8').matchAll(TOKEN)].map(
    ([, name = '', light = '', dark = '']) => [name, [light, dark]],
  ),
);

/** As WCAG 2 defines it. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map(at => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map(part => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: string, b: string, theme: number): number {
  const [one = 0, two = 0] = [a, b].map(name => luminance(tokens.get(name)?.[theme] ?? ''));
  return (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
}

const TEXTS = ['text', 'quiet', 'accent', 'good', 'warn', 'bad'];

/** Which texts stand on which ground. */
const PAIRS: readonly (readonly [ground: string, texts: readonly string[], least: number])[] = [
  ['ground', TEXTS, 4.5],
  ['surface', TEXTS, 4.5],
  ['raised', TEXTS, 4.5],
  ['good-ground', ['good', 'text'], 4.5],
  ['warn-ground', ['warn', 'text'], 4.5],
  ['bad-ground', ['bad', 'text'], 4.5],
  ['accent-ground', TEXTS, 4.5],
  ['accent', ['on-accent'], 4.5],
  ['surface', ['edge'], 3],
  ['ground', ['edge'], 3],
];

test('PAGE-47 all texts have enough contrast in light and in dark', () => {
  for (const [ground, texts, least] of PAIRS) {
    for (const text of texts) {
      for (const theme of [0, 1]) {
        const found = contrast(text, ground, theme);
        assert.ok(found >= least, `${text} on ${ground}, ${theme === 0 ? 'light' : 'dark'}: ${found.toFixed(2)}`);
      }
    }
  }
});
