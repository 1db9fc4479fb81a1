import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FrontendConnections } from '../../frontend-connections.ts';
import { countByService } from './count-by-service.ts';

const COUNTERS: readonly FrontendConnections[] = [
  { family: 'IPv4', service: 'default/web', port: 'http', connections: 3 },
  { family: 'IPv6', service: 'default/web', port: 'http', connections: 2 },
  { family: 'IPv4', service: 'default/idle', port: '', connections: 0 },
];

test('HISTORY-24 the connections of a Service are those of all its ports, addresses and families', async () => {
  const counts = await countByService(async function* () {
    yield* COUNTERS;
  });
  assert.deepEqual(counts, new Map([['default/web', 5]]));
});

test('HISTORY-24 a reading that the kernel breaks off is repeated, and given up after three attempts', async () => {
  let failures = 2;
  const read = async function* () {
    yield* COUNTERS;
    if (failures-- > 0) throw new Error('interrupted');
  };
  assert.deepEqual(await countByService(read), new Map([['default/web', 5]]));
  failures = 3;
  assert.equal(await countByService(read), undefined);
});
