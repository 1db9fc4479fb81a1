import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Configuration, compareConfigurations, defaultConfiguration, LIVE_FIELDS } from './index.ts';

const usual = defaultConfiguration();

function compare(change: Partial<Configuration>) {
  return compareConfigurations(usual, { ...usual, ...change });
}

test('CONF-16 two ways to write the same configuration are not a change', () => {
  assert.deepEqual(compare({}), { live: [], restart: [] });
  assert.deepEqual(compare({ nodePortAddresses: [], logging: { ...usual.logging, flushFrequencyIsNumber: true } }), {
    live: [],
    restart: [],
  });
  const gates = (...names: string[]) => ({ ...usual, featureGates: new Map(names.map(name => [name, true])) });
  assert.deepEqual(compareConfigurations(gates('A', 'B'), gates('B', 'A')), { live: [], restart: [] });
});

test('CONF-16 the comparison separates fields that apply at once from fields that need a restart', () => {
  const { linux, logging, detectLocal } = usual;
  const changes = compare({
    logging: { ...logging, verbosity: 4, vmodule: [{ filePattern: 'a', verbosity: 5 }], format: 'json' },
    detectLocalMode: 'BridgeInterface',
    detectLocal: { ...detectLocal, bridgeInterface: 'br0', interfaceNamePrefix: 'veth', clusterCIDRs: ['10.0.0.0/8'] },
    nodePortAddresses: ['primary'],
    syncPeriod: 1n,
    minSyncPeriod: 2n,
    linux: { ...linux, masqueradeAll: true, oomScoreAdj: 5, conntrack: { ...linux.conntrack, min: 7 } },
    mode: 'ipvs',
    configSyncPeriod: 5n,
    featureGates: new Map([['AllAlpha', true]]),
  });
  assert.deepEqual(new Set(changes.live), new Set(LIVE_FIELDS));
  const restart = ['featureGates', 'logging.format', 'mode', 'configSyncPeriod', 'linux.conntrack.min'];
  assert.deepEqual(new Set(changes.restart), new Set(restart));
});

test('CONF-16 a change back to the default is a change', () => {
  const running = { ...usual, nodePortAddresses: ['primary'], linux: { ...usual.linux, oomScoreAdj: undefined } };
  assert.deepEqual(compareConfigurations(running, usual).live, ['nodePortAddresses', 'linux.oomScoreAdj']);
});
