import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holdsRule } from './rule-match.ts';
import { parseSave } from './save.ts';

const chain = parseSave(`*nat
:FOO - [0:0]
-A FOO -p tcp -m comment --comment "kubernetes service portals" -m tcp --dport 80 -j BAR
-A FOO -m mark --mark 0x4000/0x4000 -j MARK --set-xmark 0x4000/0x0
COMMIT
`)
  .get('nat')
  ?.get('FOO');

const cases: readonly (readonly [string, readonly string[], boolean])[] = [
  [
    'with its words in another order',
    [
      '-m',
      'comment',
      '--comment',
      'kubernetes service portals',
      '-m',
      'tcp',
      '-p',
      'tcp',
      '--dport',
      '80',
      '-j',
      'BAR',
    ],
    true,
  ],
  [
    'with leading zeros in a mark',
    ['-m', 'mark', '--mark', '0x00004000/0x00004000', '-j', 'MARK', '--set-xmark', '0x4000/0x0'],
    true,
  ],
  ['with fewer words', ['-m', 'mark', '--mark', '0x4000/0x4000'], false],
  ['with another word', ['-m', 'mark', '--mark', '0x8000/0x8000', '-j', 'MARK', '--set-xmark', '0x4000/0x0'], false],
  ['without words', [], false],
];

for (const [name, rule, wanted] of cases) {
  test(`KERNEL-9 without -C, a rule ${name} is ${wanted ? '' : 'not '}found in the saved chain`, () => {
    assert.ok(chain);
    assert.equal(holdsRule(chain, rule), wanted);
  });
}
