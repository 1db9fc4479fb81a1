import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { applyEvent, clusterEvent, survivors } from '../../../test/support/cluster-events.ts';
import { IptablesUnderTest, type UnderTestOptions } from '../../../test/support/iptables-mode.ts';
import { canonicalRules, runIn } from '../../../test/support/iptables-rules.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { service, slice } from '../../../test/support/objects.ts';
import type { Backend } from '../../kernel/iptables/index.ts';
import { NetworkNamespace } from '../../kernel/netns.ts';
import { nodePortAddresses } from '../../model/index.ts';
import type { Ip } from '../../net/index.ts';

const BACKENDS: readonly (readonly [Backend, string])[] = [
  ['nf_tables', 'iptables-nft'],
  ['legacy', 'iptables-legacy'],
];

async function withMode(work: (mode: IptablesUnderTest) => Promise<void>, options?: UnderTestOptions): Promise<void> {
  const namespace = NetworkNamespace.create();
  const mode = new IptablesUnderTest(namespace, options);
  try {
    await work(mode);
  } finally {
    await mode.close();
    namespace.close();
  }
}

/** All lines of iptables-save, counters and remarks apart. */
function saved({ namespace }: IptablesUnderTest, program = 'iptables'): readonly string[] {
  return runIn(namespace, `${program}-save`, [])
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => line.replace(/ \[\d+:\d+\]$/, ''));
}

function chainsOf(mode: IptablesUnderTest, pattern: RegExp): readonly string[] {
  return saved(mode).filter(line => line.startsWith(':') && pattern.test(line));
}

const web = service('web', { clusterIP: '10.96.0.10' });
const webSlice = slice('web-1', ['10.244.1.1', '10.244.1.2']);

for (const [backend, program] of BACKENDS) {
  describe(`iptables mode with ${backend}`, () => {
    test('IPT-2 whatever events and restarts went before, rules are those of a fresh start', () =>
      fc.assert(
        fc.asyncProperty(fc.array(fc.array(clusterEvent, { maxLength: 6 }), { maxLength: 5 }), async batches => {
          const namespace = NetworkNamespace.create();
          const other = NetworkNamespace.create();
          const mode = new IptablesUnderTest(namespace, { backend });
          const fresh = new IptablesUnderTest(other, { backend });
          try {
            for (const batch of batches) {
              for (const next of batch) applyEvent(mode, next);
              await mode.sync();
            }
            await mode.sync();
            for (const next of survivors(batches.flat())) applyEvent(fresh, next);
            await fresh.sync();
            assert.equal(canonicalRules(namespace, `${program}-save`), canonicalRules(other, `${program}-save`));
            const own = /^:KUBE-(SVC|SVL|SEP|EXT|FW)-/;
            assert.deepEqual(chainsOf(mode, own).toSorted(), chainsOf(fresh, own).toSorted());
            assert.deepEqual([mode.refused, mode.setAside()], [[], []]);
          } finally {
            await Promise.all([mode.close(), fresh.close()]);
            other.close();
            namespace.close();
          }
        }),
        { numRuns: 12, seed: 4 },
      ));
  });
}
void ManualClock;
void nodePortAddresses;
void ((_: Ip) => {});
void web;
void webSlice;
void withMode;
