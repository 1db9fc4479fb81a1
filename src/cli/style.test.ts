import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ColorChoice, styleFor } from './style.ts';

const CASES: readonly [choice: ColorChoice, isTTY: boolean, env: NodeJS.ProcessEnv, isColoured: boolean][] = [
  ['auto', true, { TERM: 'xterm' }, true],
  ['auto', false, { TERM: 'xterm' }, false],
  ['auto', true, { TERM: 'dumb' }, false],
  ['auto', true, { TERM: 'xterm', NO_COLOR: '1' }, false],
  ['auto', true, { TERM: 'xterm', NO_COLOR: '' }, true],
  ['always', false, { TERM: 'dumb', NO_COLOR: '1' }, true],
  ['never', true, { TERM: 'xterm' }, false],
];

for (const [choice, isTTY, env, isColoured] of CASES) {
  test(`CLI-22 --color ${choice} ${isTTY ? 'on a terminal' : 'in a pipe'} with ${JSON.stringify(env)} ${isColoured ? 'colours' : 'does not colour'}`, () => {
    assert.equal(styleFor({ isTTY }, env, choice).red('x'), isColoured ? '\x1b[31mx\x1b[39m' : 'x');
  });
}
