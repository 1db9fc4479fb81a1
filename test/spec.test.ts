import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

const FOLDER = 'docs/spec';
const RULE = /[A-Z][A-Z0-9]*-\d+/g;
/** A rule in a file of the spec is a heading: `## PLAN-7 Reject, drop or forward`. */
const RULE_HEADING = /^## ([A-Z][A-Z0-9]*-\d+) \S/gm;
/** Any other way to write a rule would escape the checks. */
const LOOKS_LIKE_A_RULE = /^(?:#+|[-*]) *\**([A-Z][A-Z0-9]*-\d+)/gm;
const LINK = /\]\(([^)#]+)\)/g;
/** A text that begins with rules, as the names of tests do: in quotes, one or several. */
const CITING_TEXT = /['"`]((?:[A-Z][A-Z0-9]*-\d+[ ,:'"`]+)+)/g;
/** The name of a test, with rules of any section. */
const CITING_NAME = /\b(?:test|describe)\(\s*['"`]((?:[A-Z][A-Z0-9]*-\d+[ ,:'"`]+)+)/g;

const files = readdirSync(FOLDER)
  .filter(name => name.endsWith('.md'))
  .map(name => {
    const text = readFileSync(join(FOLDER, name), 'utf8');
    return { name, text, rules: captured(text, RULE_HEADING) };
  });
const rules = files.flatMap(file => file.rules);
const sections = new Set(rules.map(sectionOf));
const tests = ['src', 'test']
  .flatMap(root => readdirSync(root, { recursive: true, encoding: 'utf8' }).map(path => join(root, path)))
  .filter(path => path.endsWith('.test.ts'))
  .map(path => ({ path, text: readFileSync(path, 'utf8') }));

function captured(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, found = '']) => found);
}

function sectionOf(rule: string): string {
  return rule.slice(0, rule.lastIndexOf('-'));
}

function numberOf(rule: string): number {
  return Number(rule.slice(rule.lastIndexOf('-') + 1));
}

function rulesIn(text: string, citing: RegExp): readonly string[] {
  return captured(text, citing).flatMap(cited => cited.match(RULE) ?? []);
}

describe('the rules of docs/spec', () => {
  test('ARCH-5 every rule has its own number', () => {
    assert.ok(rules.length > 200, 'the rules were found');
    assert.deepEqual(
      rules.filter((rule, i) => rules.indexOf(rule) !== i),
      [],
    );
  });

  test('ARCH-5 every rule is written as a heading', () => {
    for (const { name, text, rules: found } of files) assert.deepEqual(captured(text, LOOKS_LIKE_A_RULE), found, name);
  });

  test('ARCH-5 a file has the rules of one section, sorted by number', () => {
    for (const { name, rules: found } of files) {
      assert.ok(new Set(found.map(sectionOf)).size <= 1, `${name} has one section`);
      assert.deepEqual(
        found,
        found.toSorted((a, b) => numberOf(a) - numberOf(b)),
        name,
      );
    }
  });

  test('ARCH-5 the entrance names every file and every section', () => {
    const entrance = files.find(({ name }) => name === 'README.md')?.text ?? '';
    const inTables = [...entrance.matchAll(/^\| ([A-Z0-9]+) \| \[(\S+)\]/gm)].map(
      ([, section, file]) => `${section} ${file}`,
    );
    const inFiles = files.flatMap(({ name, rules: [first] }) => (first ? [`${sectionOf(first)} ${name}`] : []));
    assert.deepEqual(inTables.toSorted(), inFiles.toSorted());
    for (const { name } of files) assert.ok(name === 'README.md' || entrance.includes(`(${name})`), name);
  });

  test('ARCH-5 the files name only rules and files that exist', () => {
    for (const { name, text } of files) {
      const named = (text.match(RULE) ?? []).filter(rule => sections.has(sectionOf(rule)) && !rules.includes(rule));
      const linked = captured(text, LINK).filter(target => !existsSync(join(FOLDER, target)));
      assert.deepEqual({ named, linked }, { named: [], linked: [] }, name);
    }
  });

  test('ARCH-5 every rule is cited by the name of a test', () => {
    const cited = new Set(tests.flatMap(({ text }) => rulesIn(text, CITING_TEXT)));
    assert.deepEqual(
      rules.filter(rule => !cited.has(rule)),
      [],
    );
  });

  test('ARCH-5 no test cites a rule that does not exist', () => {
    const wrong = tests.flatMap(({ path, text }) => {
      const ofSections = rulesIn(text, CITING_TEXT).filter(rule => sections.has(sectionOf(rule)));
      return [...new Set([...ofSections, ...rulesIn(text, CITING_NAME)])]
        .filter(rule => !rules.includes(rule))
        .map(rule => `${path} cites ${rule}`);
    });
    assert.deepEqual(wrong, []);
  });
});
