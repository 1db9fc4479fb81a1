import assert from 'node:assert/strict';
import { test } from 'node:test';
import { service, slice } from '../../../../test/support/objects.ts';
import type { DestinationEntry, ServiceEntry, Stats } from '../../../kernel/ipvs/index.ts';
import { Model, parseNodePortAddresses } from '../../../model/index.ts';
import type { Ip } from '../../../net/index.ts';
import { Planner } from '../../../plan/index.ts';
import { renderContext } from '../render.ts';
import { RenderedPlans } from '../wanted/rendered-plans.ts';
import { readConnectionCounts, readStatistics } from './read-statistics.ts';
import type { StatisticsOptions } from './server-statistics.ts';

function stats(connections: bigint): Stats {
  const zero = 0n;
  return {
    connections,
    inPackets: connections * 2n,
    outPackets: connections,
    inBytes: connections * 100n,
    outBytes: connections * 50n,
    connectionsPerSecond: zero,
    inPacketsPerSecond: zero,
    outPacketsPerSecond: zero,
    inBytesPerSecond: zero,
    outBytesPerSecond: zero,
  };
}

function wanted() {
  const model = new Model({ family: 'IPv4', nodeName: 'node-a', startedAt: 0, report: () => {} });
  model.setService(service('a', { clusterIP: '10.96.0.1', externalIPs: ['1.1.1.1'] }));
  model.setEndpointSlice(slice('a-1', ['10.0.0.1']));
  for (let i = 2; i < 5; i++) model.setService(service(`s${i}`, { clusterIP: `10.96.0.${i}` }));
  const options = {
    localDetector: undefined,
    masqueradeAll: false,
    allowExternalIPs: true,
    nodeIP: '192.168.0.2' as Ip,
  };
  const planner = new Planner(model, { node: { name: 'node-a', zone: '' }, ...options });
  const settings = { nodePortAddresses: parseNodePortAddresses('IPv4', []), nodePortIPs: [] };
  const plans = new RenderedPlans(renderContext({ family: 'IPv4', scheduler: 'rr', settings, nodeIPs: [] }));
  plans.take(planner.update(model.take()));
  return plans;
}

const entry = (address: string, connections: bigint): ServiceEntry => ({
  key: { kind: 'address', protocol: 'TCP', address: address as Ip, port: 80 },
  scheduler: 'rr',
  flags: 0,
  timeout: 0,
  netmask: 0,
  persistenceEngine: undefined,
  stats: stats(connections),
});

test('IPVS-18 the busiest service ports have statistics of their own with real servers, and the rest is a sum', async () => {
  const destination: DestinationEntry = {
    address: '10.0.0.1' as Ip,
    port: 8080,
    forward: 'masq',
    weight: 1,
    upperThreshold: 0,
    lowerThreshold: 0,
    activeConnections: 3,
    inactiveConnections: 1,
    persistentConnections: 0,
    stats: stats(5n),
  };
  const listed: string[] = [];
  const socket = {
    async *streamServices() {
      yield* [
        entry('10.96.0.1', 5n),
        entry('1.1.1.1', 6n),
        entry('10.96.0.2', 4n),
        entry('10.96.0.3', 3n),
        entry('10.96.0.4', 0n),
        entry('172.16.0.1', 1000n),
      ];
    },
    destinations: (key: ServiceEntry['key']) => {
      listed.push(key.kind === 'address' ? key.address : '');
      return [destination];
    },
  };
  const families = new Map([['IPv4', wanted()]] as const);
  const { servicePorts, others, virtualServers } = await readStatistics(socket, families, { limit: 1 });
  assert.deepEqual(
    listed,
    ['10.96.0.1', '1.1.1.1'],
    'real servers are read only of service ports that have statistics',
  );
  assert.equal(virtualServers, 5);
  assert.deepEqual(servicePorts, [
    {
      id: 'IPv4 default/a/TCP',
      family: 'IPv4',
      service: 'default/a',
      port: '',
      protocol: 'TCP',
      connections: 11n,
      inPackets: 22n,
      outPackets: 11n,
      inBytes: 1100n,
      outBytes: 550n,
      realServers: [
        {
          address: '10.0.0.1:8080',
          weight: 1,
          activeConnections: 6,
          inactiveConnections: 2,
          connections: 10n,
          inPackets: 20n,
          outPackets: 10n,
          inBytes: 1000n,
          outBytes: 500n,
        },
      ],
    },
  ]);
  assert.deepEqual(others, [
    {
      family: 'IPv4',
      servicePorts: 3,
      connections: 7n,
      inPackets: 14n,
      outPackets: 7n,
      inBytes: 700n,
      outBytes: 350n,
    },
  ]);
  const names = async (options: StatisticsOptions) =>
    (await readStatistics(socket, families, options)).servicePorts.map(({ service }) => service);
  assert.deepEqual(await names({ limit: 2, keep: new Set(['IPv4 default/s4/TCP']) }), ['default/s4', 'default/a']);
  assert.deepEqual(await names({}), ['default/a', 'default/s2', 'default/s3'], 'idle service ports have no statistics');
});

test('HISTORY-24 the connections of a Service are those of all its virtual servers, and idle ones are left out', async () => {
  const socket = {
    async *streamServices() {
      yield* [entry('10.96.0.1', 5n), entry('1.1.1.1', 6n), entry('10.96.0.4', 0n), entry('172.16.0.1', 1000n)];
    },
  };
  const families = new Map([['IPv4', wanted()]] as const);
  assert.deepEqual(await readConnectionCounts(socket, families), new Map([['default/a', 11]]));
});
