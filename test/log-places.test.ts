import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { withLogPlaces } from '../scripts/log-places.mjs';

test('LOG-21 the build adds the file and the line to the source of each log call', () => {
  const cases: readonly (readonly [string, string])[] = [
    ["log.info('server', 'Text');", "log.info('server a.ts:1', 'Text');"],
    ["\nthis.#log.error(\n  'server',\n  'Text');", "\nthis.#log.error(\n  'server a.ts:2',\n  'Text');"],
    ["options.log.warning('x', `a`)", "options.log.warning('x a.ts:1', `a`)"],
    ["log.v(4, 'proxy', 'Text')", "log.v(4, 'proxy a.ts:1', 'Text')"],
    ["log.plain(1, 'flags', text)", "log.plain(1, 'flags a.ts:1', text)"],
    ["if (log.isEnabled(4, 'proxy')) work();", "if (log.isEnabled(4, 'proxy a.ts:1')) work();"],
    ['log.error(mode, text, fields)', 'log.error(`$' + '{mode} a.ts:1`, text, fields)'],
    ["dialog.info('server', 'Text')", "dialog.info('server', 'Text')"],
    ["Math.log.info('Some text')", "Math.log.info('Some text')"],
  ];
  for (const [source, want] of cases) assert.equal(withLogPlaces(source, '/x/src/a.ts'), want);
});

test('LOG-21 every log call of src gets its place', () => {
  const paths = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map(path => join('src', path));
  let count = 0;
  for (const path of paths) {
    const text = withLogPlaces(readFileSync(path, 'utf8'), path);
    for (const [call, args = ''] of text.matchAll(/\blog\??\.(?:info|warning|error|v|plain|isEnabled)\(([^)]*)/g)) {
      assert.ok(args.includes(` ${basename(path)}:`), `${path}: ${call}`);
      count++;
    }
  }
  assert.ok(count > 60, `${count} calls`);
});
