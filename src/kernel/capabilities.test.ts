import assert from 'node:assert/strict';
import { test } from 'node:test';
import { netAdminAdvice } from './capabilities.ts';

const ADVICE = 'run kube-proxy as root or with CAP_NET_ADMIN';

for (const [what, status, advice] of [
  ['every capability', 'Name:\tnode\nCapEff:\t000001ffffffffff\n', undefined],
  ['only CAP_NET_ADMIN', 'CapEff:\t0000000000001000\n', undefined],
  ['every capability except CAP_NET_ADMIN', 'CapEff:\t000001ffffffefff\n', ADVICE],
  ['no capability', 'CapEff:\t0000000000000000\n', ADVICE],
  ['unknown capabilities', 'Name:\tnode\n', undefined],
] as const) {
  test(`START-29 a process with ${what} gets ${advice ? 'the advice' : 'no advice'} to run with CAP_NET_ADMIN`, () =>
    assert.equal(
      netAdminAdvice(() => status),
      advice,
    ));
}

test('START-29 a process that cannot read its capabilities gets no advice', () =>
  assert.equal(
    netAdminAdvice(() => {
      throw new Error('no /proc');
    }),
    undefined,
  ));
