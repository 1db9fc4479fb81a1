import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { applyEvent, clusterEvent } from '../../../test/support/cluster-events.ts';
import { EbpfLab } from '../../../test/support/ebpf-mode.ts';
import type { BpfMap } from '../../kernel/bpf/index.ts';
import { FAMILIES } from '../../net/index.ts';
import { DIGIT } from './generation/capacity.ts';
import type { GenerationMaps } from './generation/maps.ts';
import {
  decodeFrontendKey,
  decodeMember,
  decodeNodeAddress,
  decodeNodeAddressKey,
  decodePool,
  decodeSlot,
  decodeTarget,
  flagNames,
} from './programs/index.ts';

/** What the maps mean, without the numbers of pools and slots. */
function meaningOf(maps: GenerationMaps | undefined): readonly string[] {
  const map = (name: Parameters<GenerationMaps['get']>[0]) => maps?.get(name);
  return FAMILIES.flatMap(family => {
    const digit = DIGIT[family];
    const endpoints = (pool: number) => {
      const { first, count } = decodePool(elementOf(map('pools'), pool));
      return Array.from({ length: count }, (_, i) =>
        JSON.stringify(decodeSlot(elementOf(map(`slots${digit}`), first + i))),
      );
    };
    const names = new Map<number, string>();
    const frontends = entriesOf(map(`frontends${digit}`)).map(([key, value]) => {
      const { pool, flags, affinitySeconds, identity } = decodeTarget(value);
      names.set(pool, String(identity));
      const target = [flagNames(flags), affinitySeconds, String(identity), endpoints(pool).sort()];
      return `frontend ${JSON.stringify(decodeFrontendKey(key))} ${JSON.stringify(target)}`;
    });
    const members = entriesOf(map(`members${digit}`)).map(([key]) => {
      const { pool, ip, port } = decodeMember(key);
      return `member ${names.get(pool)} ${ip} ${port}`;
    });
    const addresses = entriesOf(map(`nodeAddresses${digit}`)).map(
      ([key, value]) => `address ${decodeNodeAddressKey(key)} ${decodeNodeAddress(value)}`,
    );
    return [...frontends, ...members, ...addresses];
  }).sort();
}

function entriesOf(map: BpfMap | undefined): readonly (readonly [Buffer, Buffer])[] {
  if (!map) return [];
  const { keys, values } = map.entries();
  const { keyBytes, valueBytes } = map.spec;
  return Array.from({ length: keys.length / keyBytes }, (_, i) => [
    keys.subarray(i * keyBytes, (i + 1) * keyBytes),
    values.subarray(i * valueBytes, (i + 1) * valueBytes),
  ]);
}

function elementOf(map: BpfMap | undefined, index: number): Buffer {
  const key = Buffer.alloc(4);
  key.writeUInt32LE(index);
  return map?.lookup(key) ?? assert.fail(`there is no element ${index}`);
}

const step = fc.oneof(
  { weight: 6, arbitrary: clusterEvent },
  { weight: 3, arbitrary: fc.constant('sync' as const) },
  { weight: 1, arbitrary: fc.constant('restart' as const) },
  { weight: 1, arbitrary: fc.constant('damage' as const) },
);

/** Another program empties a map. */
function damage(maps: GenerationMaps | undefined): void {
  const map = maps?.get('frontends4');
  map?.removeBatch(map.entries().keys);
}

test('EBPF-11 after any events, restarts and drift the maps are those of a fresh start', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), steps =>
      EbpfLab.with(async lab => {
        const { harness } = lab;
        for (const next of steps) {
          if (next === 'sync') await harness.sync();
          else if (next === 'restart') await harness.restart();
          else if (next === 'damage') damage(harness.mode.maps);
          else applyEvent(harness, next);
        }
        await harness.sync();
        await harness.mode.lookForDrift();
        const found = meaningOf(harness.mode.maps);
        await harness.restart();
        assert.deepEqual(found, meaningOf(harness.mode.maps));
        assert.equal(harness.mode.condition().isServing, true);
      }),
    ),
    { numRuns: 12, seed: 1 },
  );
});
