import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProxyStatus } from '../../../../inspect/index.ts';
import { type LightName, lightsOf } from './lights.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');

const FAMILY = {
  family: 'IPv4',
  alive: true,
  healthy: true,
  lastSync: '2026-01-01T11:59:59Z',
  servicePorts: { programmed: 3, setAside: 0 },
  conflicts: 0,
} as const;

const GOOD: ProxyStatus = {
  version: '1.0.0',
  kubernetesVersion: 'v1.37.0',
  node: 'node-a',
  mode: 'nftables',
  source: 'cluster',
  pid: 1,
  startedAt: '2026-01-01T11:00:00Z',
  uptimeSeconds: 3600,
  alive: true,
  ready: true,
  healthy: true,
  nodeEligible: true,
  pending: false,
  families: [FAMILY],
  checks: [{ name: 'synced', ready: true, problems: [] }],
  syncs: [],
  failedSyncs: 0,
  drift: { repairs: 0 },
  memory: { resident: 1, heapUsed: 1, external: 1 },
  watches: [{ path: '/api/v1/services', synced: true }],
  problems: 0,
};

function light(name: LightName, changed: Partial<ProxyStatus>): string {
  const found = lightsOf({ ...GOOD, ...changed }, NOW).find(known => known.name === name);
  return `${found?.tone}: ${found?.word}`;
}

test('PAGE-37 all lights are good if nothing is wrong, and unknown before the first status', () => {
  assert.deepEqual(
    lightsOf(GOOD, NOW).map(({ tone }) => tone),
    ['good', 'good', 'good', 'good'],
  );
  assert.deepEqual(new Set(lightsOf(undefined, NOW).map(({ word }) => word)), new Set(['unknown']));
});

test('PAGE-37 the light of watches is bad if one fails, and warns until all have listed', () => {
  const [watch] = GOOD.watches;
  assert.ok(watch);
  assert.equal(light('watches', { source: 'manifests', watches: [] }), 'good: files');
  assert.equal(light('watches', { watches: [watch, { ...watch, synced: false }] }), 'warn: 1 of 2 listed');
  assert.equal(light('watches', { watches: [watch, { ...watch, problem: 'refused' }] }), 'bad: 1 of 2 fail');
});

test('PAGE-37 the light of syncs is bad if one fails or is late, and warns before the first one', () => {
  assert.equal(light('syncs', { families: [FAMILY, { ...FAMILY, error: 'no memory' }] }), 'bad: failing');
  assert.equal(light('syncs', { families: [{ ...FAMILY, lastSync: undefined }], healthy: false }), 'warn: first sync');
  assert.equal(light('syncs', { healthy: false }), 'bad: late');
});

test('PAGE-37 the light of drift warns for ten minutes after a repair', () => {
  const last = { at: '2026-01-01T11:55:00Z', family: 'IPv4', cause: 'nft flushed the table', written: 'all' } as const;
  assert.equal(light('drift', { drift: { repairs: 1, last } }), 'warn: 1 repair');
  assert.equal(light('drift', { drift: { repairs: 2, last: { ...last, at: GOOD.startedAt } } }), 'good: 2 repairs');
});

test('PAGE-37 the light of problems counts inputs, refused service ports and conflicts', () => {
  const families = [{ ...FAMILY, servicePorts: { programmed: 3, setAside: 2 }, conflicts: 1 }];
  assert.equal(light('problems', { problems: 1, families }), 'warn: 4');
  const condition = { name: 'sockets', serving: false, note: 'no cgroup2' };
  assert.equal(light('problems', { condition }), 'warn: 1');
  assert.equal(light('problems', { condition: { ...condition, serving: true } }), 'good: none');
  assert.equal(light('problems', { checks: [{ name: 'synced', ready: false, problems: [] }] }), 'bad: not ready');
});
