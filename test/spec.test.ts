import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

const RULE = /[A-Z][A-Z0-9]*-\d+/g;
/** A text that begins with rules, as the names of tests do: in quotes, one or several. */
const CITING_TEXT = /['"`]((?:[A-Z][A-Z0-9]*-\d+[ ,:'"`]+)+)/g;
/** The name of a test, with rules of whatever section. */
const CITING_NAME = /\b(?:test|describe)\(\s*['"`]((?:[A-Z][A-Z0-9]*-\d+[ ,:'"`]+)+)/g;

const rules = [...readFileSync('SPEC.md', 'utf8').matchAll(/^- \*\*([A-Z][A-Z0-9]*-\d+)\*\* /gm)].map(
  ([, rule = '']) => rule,
);
const sections = new Set(rules.map(sectionOf));
const tests = ['src', 'test']
  .flatMap(root => readdirSync(root, { recursive: true, encoding: 'utf8' }).map(path => join(root, path)))
  .filter(path => path.endsWith('.test.ts'))
  .map(path => ({ path, text: readFileSync(path, 'utf8') }));

function sectionOf(rule: string): string {
  return rule.slice(0, rule.lastIndexOf('-'));
}

function rulesIn(text: string, citing: RegExp): readonly string[] {
  return [...text.matchAll(citing)].flatMap(([, cited = '']) => cited.match(RULE) ?? []);
}

describe('the rules of SPEC.md', () => {
  test('ARCH-5 each has a number of its own', () => {
    assert.ok(rules.length > 200, 'the rules were found');
    assert.deepEqual(
      rules.filter((rule, i) => rules.indexOf(rule) !== i),
      [],
    );
  });

  test('ARCH-5 each is cited by the name of a test', () => {
    const cited = new Set(tests.flatMap(({ text }) => rulesIn(text, CITING_TEXT)));
    assert.deepEqual(
      rules.filter(rule => !cited.has(rule)),
      [],
    );
  });

  test('ARCH-5 no test cites one that is not there', () => {
    const wrong = tests.flatMap(({ path, text }) => {
      const ofSections = rulesIn(text, CITING_TEXT).filter(rule => sections.has(sectionOf(rule)));
      return [...new Set([...ofSections, ...rulesIn(text, CITING_NAME)])]
        .filter(rule => !rules.includes(rule))
        .map(rule => `${path} cites ${rule}`);
    });
    assert.deepEqual(wrong, []);
  });
});
