import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';

const COLUMNS = 100;
/** Folders of the checkout whose Markdown files are not ours, or are material of tests. */
const LEFT_OUT = new Set(['.git', 'build', 'examples', 'node_modules', 'test']);
const DECISIONS = 'docs/decisions';
const GUIDE = 'docs/guide';

interface Document {
  readonly path: string;
  readonly text: string;
  /** The text without code, in which a bracket or a path means something else. */
  readonly prose: string;
}

const documents: readonly Document[] = readdirSync('.', { withFileTypes: true })
  .filter(({ name }) => !LEFT_OUT.has(name))
  .flatMap(entry =>
    entry.isDirectory()
      ? readdirSync(entry.name, { recursive: true, encoding: 'utf8' }).map(path => join(entry.name, path))
      : [entry.name],
  )
  .filter(path => path.endsWith('.md'))
  .map(path => {
    const text = readFileSync(path, 'utf8');
    return { path, text, prose: text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '') };
  });

describe('documents', () => {
  test('the documents are found', () => {
    const paths = documents.map(({ path }) => path);
    for (const path of ['README.md', `${DECISIONS}/README.md`, `${GUIDE}/README.md`]) {
      assert.ok(paths.includes(path), path);
    }
  });

  test('every line has at most 100 columns, tables and single links apart', () => {
    const isTableOrLink = (line: string) => line.startsWith('|') || /^!?\[[^\]]*\]\([^)]*\)$/.test(line);
    const wrong = documents.flatMap(({ path, text }) =>
      text
        .split('\n')
        .map((line, i) => ({ line, where: `${path}:${i + 1}` }))
        .filter(({ line }) => [...line].length > COLUMNS && !isTableOrLink(line))
        .map(({ where, line }) => `${where} has ${[...line].length} columns`),
    );
    assert.deepEqual(wrong, []);
  });

  test('every relative link leads to a file that exists', () => {
    const wrong = documents.flatMap(({ path, prose }) =>
      linksOf(prose)
        .filter(link => !/^[a-z]+:/.test(link))
        .map(link => link.replace(/#.*/, ''))
        .filter(link => link !== '' && !existsSync(join(dirname(path), link)))
        .map(link => `${path} links to ${link}`),
    );
    assert.deepEqual(wrong, []);
  });

  test('every file of this repository that a document names exists', () => {
    const wrong = documents.flatMap(({ path, prose }) =>
      [...prose.matchAll(/`((?:src|test|docs|deploy|scripts|bench)\/[^`\s]*)`/g)]
        .map(([, file = '']) => file)
        // Capitals and asterisks stand for names.
        .filter(file => !/\b[A-Z]+\b(?!\.md)|\*/.test(file) && !existsSync(file))
        .map(file => `${path} names ${file}`),
    );
    assert.deepEqual(wrong, []);
  });

  test('decisions are numbered without gaps and listed in their README', () => {
    const files = readdirSync(DECISIONS).filter(name => name !== 'README.md');
    const numbers = files.map(name => name.slice(0, 3)).sort();
    assert.deepEqual(
      numbers,
      files.map((_, i) => String(i + 1).padStart(3, '0')),
    );
    const listed = linksOf(readFileSync(join(DECISIONS, 'README.md'), 'utf8'));
    assert.deepEqual(
      files.filter(name => !listed.includes(name)),
      [],
    );
  });

  test('every page of the guide is listed in its README', () => {
    const listed = linksOf(readFileSync(join(GUIDE, 'README.md'), 'utf8'));
    const pages = readdirSync(GUIDE).filter(name => name !== 'README.md');
    assert.deepEqual(
      pages.filter(name => !listed.includes(name)),
      [],
    );
  });

  test('every log line that the guide explains is one that the program writes', () => {
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter(path => path.endsWith('.ts') && !path.endsWith('.test.ts'))
      .map(path => readFileSync(join('src', path), 'utf8'))
      .join('\n');
    const guide = readFileSync(join(GUIDE, 'watch-its-health.md'), 'utf8');
    const [, table = ''] = /^\| Log line \|.*\n\|.*\n((?:\|.*\n)+)/m.exec(guide) ?? [];
    const lines = [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, line = '']) => line);
    assert.ok(lines.length > 5, 'the table was found');
    assert.deepEqual(
      lines.filter(line => !sources.includes(`'${line}'`)),
      [],
    );
  });
});

/** The targets of all links and pictures. */
function linksOf(text: string): readonly string[] {
  return [...text.matchAll(/\]\(([^()\s]+)\)/g)].map(([, link = '']) => link);
}
