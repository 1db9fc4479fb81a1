import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NftablesSocket, Rule } from '../kernel/nftables/index.ts';
import { Ruleset } from './ruleset.ts';

const RULES = 200;

/** A socket that needs a tenth of a millisecond for each rule of a chain. */
function slowSocket(onList: () => void): NftablesSocket {
  function* listRules(): Generator<Rule> {
    onList();
    for (let handle = 1; handle <= RULES; handle++) {
      const end = performance.now() + 0.1;
      while (performance.now() < end);
      yield { kind: 'rule', chain: 'KUBE-SERVICES', handle, expressions: [] } as unknown as Rule;
    }
  }
  return { listRules } as unknown as NftablesSocket;
}

test('TRACE-13 other work runs while a long chain is read, which happens once', async () => {
  let lists = 0;
  const ruleset = new Ruleset(slowSocket(() => lists++));
  let turns = 0;
  let isReading = true;
  const count = () => {
    turns++;
    if (isReading) setImmediate(count);
  };
  setImmediate(count);
  const last = await ruleset.rule('ip', 'nat', 'KUBE-SERVICES', RULES);
  isReading = false;
  assert.equal(last?.position, RULES);
  assert.ok(turns >= 5, `the event loop ran ${turns} times`);
  assert.equal((await ruleset.rule('ip', 'nat', 'KUBE-SERVICES', 1))?.position, 1);
  assert.equal(await ruleset.rule('ip', 'nat', 'KUBE-SERVICES', RULES + 1), undefined);
  assert.equal(lists, 1);
});
