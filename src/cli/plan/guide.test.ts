import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { runMain } from '../../../test/support/run-main.ts';

const PAGE = readFileSync('docs/guide/see-what-a-service-means.md', 'utf8');
const PROMPT = '$ bin/kube-proxy ';

/** The commands of the page that have their output below them. */
const SESSIONS = [...PAGE.matchAll(/^```\n(\$ [\s\S]*?)^```$/gm)].map(([, session = '']) => {
  const [command = '', ...output] = session
    .replaceAll(/ \\\n */g, ' ')
    .trimEnd()
    .split('\n');
  return { command, output };
});

test('CLI-2 the guide has sessions with plan', () => assert.ok(SESSIONS.length >= 3));

for (const { command, output } of SESSIONS) {
  test(`CLI-2 the guide shows what is printed for ${command}`, async () => {
    assert.ok(command.startsWith(PROMPT), command);
    const { stdout, stderr } = await runMain(command.slice(PROMPT.length).split(' '));
    assert.equal(stderr, '');
    const lines = stdout.trimEnd().split('\n');
    // The page shortens long lines.
    const shown = output.map((line, i) =>
      line.endsWith('…') && lines[i]?.startsWith(line.slice(0, -1)) ? lines[i] : line,
    );
    assert.deepEqual(shown, lines);
  });
}
