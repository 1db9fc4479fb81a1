import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rulesFor } from '../../../../test/support/iptables-plans.ts';
import { planOf } from '../../../../test/support/plans.ts';
import { type Iptables, IptablesError } from '../../../kernel/iptables/index.ts';
import { CHAINS_PER_RESTORE } from '../render.ts';
import { findRefused } from './refused-rules.ts';
import type { RenderInput } from './render-input.ts';

const REFUSED = 'default/bad';
/** An iptables-restore of a large cluster takes about this long. */
const RESTORE_MS = 2000;

test('MODE-4 the search for refused rules takes a minute at most, however many restores it needs', async t => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const iptables = {
    async restore(text: Iterable<string>) {
      now += RESTORE_MS;
      if (![...text].join('').includes(REFUSED)) return;
      throw new IptablesError('parameter', { operation: 'iptables-restore', kernelMessage: 'no' });
    },
  } as unknown as Iptables;
  const endpoints = Array.from({ length: 100 }, (_, i) => `10.244.0.${i + 1}`);
  const [bad, good] = [planOf('bad', endpoints), planOf('good', endpoints)];
  const perPart = Math.ceil(CHAINS_PER_RESTORE / endpoints.length);
  const candidates = Array.from({ length: 40 * perPart }, (_, i): [string, RenderInput] => [
    `${i}`,
    { plan: i % perPart === 0 ? bad : good, withComments: true },
  ]);
  await assert.rejects(findRefused(iptables, candidates, rulesFor()), IptablesError);
  assert.ok(now < 90_000, `the search took ${now / 1000} s`);
});
