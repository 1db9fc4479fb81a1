import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseSave, type SavedTables } from '../../kernel/iptables/index.ts';
import { describeDrift, listingOf } from './drift.ts';
import { CHAINS, type ChainName, TABLES } from './names.ts';
import { JUMPS, jumpWords } from './portals/jumps.ts';

/** What iptables-save lists if the mode has written these rules, without the chains and jumps in `missing`. */
function saved(rules: Partial<Record<ChainName, readonly string[]>>, missing: readonly string[] = []): SavedTables {
  const lines = TABLES.flatMap(table => {
    const builtIn = [...new Set(JUMPS.filter(jump => jump.table === table).map(({ from }) => from))];
    const chains = CHAINS[table].filter(chain => !missing.includes(chain));
    const jumps = JUMPS.filter(jump => jump.table === table && !missing.includes(`${jump.from} ${jump.to}`));
    return [
      `*${table}`,
      ...builtIn.map(chain => `:${chain} ACCEPT [0:0]`),
      ...chains.map(chain => `:${chain} - [0:0]`),
      ...jumps.map(jump => `-A ${jump.from} -j ${jumpWords(jump).at(-1)}`),
      ...chains.flatMap(chain => (rules[chain] ?? []).map(rule => `-A ${chain} ${rule}`)),
      'COMMIT',
    ];
  });
  return parseSave(`${lines.join('\n')}\n`);
}

const RULE = '-d 10.96.0.1/32 -j RETURN';
const COMMITTED = new Map([['default/web/TCP', [{ chain: 'KUBE-PORTALS-HOST', text: RULE } as const]]]);
const COMPLETE = saved({ 'KUBE-PORTALS-HOST': [RULE] });

describe('USER-6 drift of the portals', () => {
  test('complete chains and jumps are no drift', () => {
    assert.equal(describeDrift(COMPLETE, COMMITTED, undefined), undefined);
    assert.equal(describeDrift(COMPLETE, COMMITTED, listingOf(COMPLETE)), undefined);
  });

  test('a missing jump is drift, and is named', () => {
    const without = saved({ 'KUBE-PORTALS-HOST': [RULE] }, ['OUTPUT KUBE-PORTALS-HOST']);
    const cause = 'the jump from OUTPUT to KUBE-PORTALS-HOST is missing';
    assert.equal(describeDrift(without, COMMITTED, listingOf(COMPLETE)), cause);
  });

  test('a chain that is listed in other words than before was changed', () => {
    const changed = saved({ 'KUBE-PORTALS-HOST': ['-d 10.96.0.2/32 -j RETURN'] });
    assert.equal(describeDrift(changed, COMMITTED, listingOf(COMPLETE)), 'chain KUBE-PORTALS-HOST was changed');
  });

  test('an empty chain that is gone was changed', () => {
    const gone = saved({ 'KUBE-PORTALS-HOST': [RULE] }, ['KUBE-NODEPORT-HOST']);
    assert.equal(describeDrift(gone, COMMITTED, listingOf(COMPLETE)), 'chain KUBE-NODEPORT-HOST was changed');
  });

  test('without an earlier listing the number of rules counts', () => {
    const counts = (tables: SavedTables) => describeDrift(tables, COMMITTED, undefined);
    assert.equal(counts(saved({})), 'chain KUBE-PORTALS-HOST has 0 rules instead of 1');
    const foreign = saved({ 'KUBE-PORTALS-HOST': [RULE], 'KUBE-NODEPORT-HOST': [RULE] });
    assert.equal(counts(foreign), 'chain KUBE-NODEPORT-HOST has 1 rules instead of 0');
    const gone = saved({ 'KUBE-PORTALS-HOST': [RULE] }, ['KUBE-NODEPORT-HOST']);
    assert.equal(counts(gone), 'chain KUBE-NODEPORT-HOST has no rules instead of 0');
  });
});
