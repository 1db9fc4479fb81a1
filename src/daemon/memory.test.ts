import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { StartMemoryRelease } from './memory.ts';

test('START-10 memory is released in two steps, soon after the first sync of all families', async () => {
  const clock = new ManualClock();
  const steps: string[] = [];
  const release = new StartMemoryRelease(['IPv4', 'IPv6'], clock, {
    collect: () => steps.push('collect'),
    release: () => steps.push('release'),
  });
  release.synced('IPv4');
  release.synced('IPv4');
  await clock.advance(5000);
  assert.deepEqual(steps, []);
  release.synced('IPv6');
  await clock.advance(499);
  assert.deepEqual(steps, []);
  await clock.advance(501);
  release.synced('IPv6');
  await clock.advance(5000);
  assert.deepEqual(steps, ['collect', 'collect', 'release']);
});
