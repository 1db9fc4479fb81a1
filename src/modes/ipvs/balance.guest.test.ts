import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { differences } from '../../../test/read-back/equal.ts';
import { IpvsHarness } from '../../../test/support/ipvs-mode.ts';
import { servers } from '../../../test/support/ipvs-state.ts';
import { modeSettingsFor } from '../../../test/support/mode-harness.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { picksInTurn } from '../../../test/support/picked-endpoints.ts';
import { runIn } from '../../../test/support/run-in.ts';
import { Cluster } from '../../demo/playground/index.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { connectTcp, listenTcp } from '../../kernel/sockets/index.ts';
import type { Family, Ip } from '../../net/index.ts';
import { previewIpvs } from './preview.ts';

const ADDRESSES = {
  IPv4: { clusterIP: '10.96.0.10', pod: '10.244.1.' },
  IPv6: { clusterIP: 'fd00:10:96::10', pod: 'fd00:10:244:1::' },
} as const;

interface Lab {
  readonly mode: IpvsHarness;
  readonly node: NetworkNamespace;
  readonly endpoints: readonly [Ip, Ip, Ip];
  /** Gives the Service these annotations of Pointsman, and syncs. */
  annotate(annotations: Record<string, string>): Promise<void>;
  /** The endpoints that serve these connections of the client, in order. */
  inTurn(times: number): Promise<readonly string[]>;
  /** Opens a connection that stays. */
  hold(): Promise<{ readonly endpoint: string; close(): Promise<void> }>;
  /** Lines of `ipvsadm -S -n`. */
  save(): readonly string[];
}

/** A Service with three endpoints that are pods of the node, as the client is. An endpoint greets with its address. */
async function withLab(family: Family, work: (lab: Lab) => Promise<void>): Promise<void> {
  const { clusterIP, pod } = ADDRESSES[family];
  const endpoints = [`${pod}2`, `${pod}3`, `${pod}4`] as [Ip, Ip, Ip];
  const cluster = Cluster.create();
  const client = cluster.addPod(`${pod}200` as Ip);
  const mode = new IpvsHarness(cluster.node, {}, family);
  const held: Socket[] = [];
  const greet = (ip: Ip) => listenTcp(cluster.addPod(ip), ip, 8080, connection => greeting(connection, ip));
  const listeners = await Promise.all(endpoints.map(greet));
  try {
    mode.set(slice('web-1', endpoints));
    await work({
      mode,
      node: cluster.node,
      endpoints,
      annotate: async annotations => {
        const named = Object.entries(annotations).map(([name, text]) => [`pointsman.dev/${name}`, text]);
        mode.set(service('web', { clusterIP, annotations: Object.fromEntries(named) }));
        await mode.sync();
      },
      inTurn: times => picksInTurn(client, clusterIP as Ip, 80, times),
      hold: async () => {
        const connection = await connectTcp(client, clusterIP as Ip, 80);
        held.push(connection.on('error', () => undefined));
        const [endpoint] = await once(connection, 'data');
        return { endpoint: String(endpoint), close: () => closed(connection) };
      },
      save: () => servers(cluster.node).trim().split('\n'),
    });
  } finally {
    for (const connection of held) connection.destroy();
    for (const listener of listeners) listener.close();
    await mode.close();
    cluster.close();
  }
}

function greeting(connection: Socket, ip: Ip): void {
  connection.on('error', () => undefined).resume();
  connection.write(ip);
}

async function closed(connection: Socket): Promise<void> {
  connection.end();
  await once(connection, 'close');
}

for (const family of ['IPv4', 'IPv6'] as const) {
  describe(`connections by ${family}`, () => {
    test('BALANCE-45 round-robin takes turns, and weighted takes turns by weight', () =>
      withLab(family, async ({ annotate, inTurn, endpoints: [a, b, c] }) => {
        const times = (picks: readonly string[]) => [a, b, c].map(ip => picks.filter(pick => pick === ip).length);
        await annotate({ balance: 'round-robin' });
        for (let round = 0; round < 3; round++) assert.deepEqual(times(await inTurn(3)), [1, 1, 1]);
        await annotate({ balance: 'weighted', weights: `${a}=1,${b}=3,${c}=0` });
        for (let round = 0; round < 3; round++) assert.deepEqual(times(await inTurn(4)), [1, 3, 0]);
      }));

    test('BALANCE-45 a connection goes to the endpoint with the fewest', () =>
      withLab(family, async ({ annotate, hold, endpoints }) => {
        await annotate({ balance: 'least-connections' });
        const held = [];
        for (let i = 0; i < 6; i++) held.push(await hold());
        const [a, b, c] = endpoints;
        assert.deepEqual(held.map(({ endpoint }) => endpoint).sort(), [a, a, b, b, c, c]);
        for (const one of held) if (one.endpoint === b) await one.close();
        assert.deepEqual([(await hold()).endpoint, (await hold()).endpoint], [b, b]);
      }));

    test('BALANCE-45 a client always gets the same endpoint, unless its port counts too', () =>
      withLab(family, async ({ annotate, inTurn }) => {
        await annotate({ balance: 'consistent-hash' });
        assert.equal(new Set(await inTurn(12)).size, 1);
        await annotate({ balance: 'consistent-hash', 'hash-by': 'client-address-and-port' });
        // With ports, all of 24 connections get the same of three endpoints once in 90 billion runs.
        assert.ok(new Set(await inTurn(24)).size > 1);
      }));
  });
}

test('BALANCE-49 readings and previews see a wrong weight, and the mode repairs it', () =>
  withLab('IPv4', async ({ mode, node, annotate, save, endpoints: [a, b, c] }) => {
    await annotate({ balance: 'weighted', weights: `${a}=1,${b}=3,${c}=0` });
    const look = async () => {
      const plans = mode.plans();
      const reading = await mode.mode.readBack('IPv4', plans[0] ?? assert.fail());
      const settings = modeSettingsFor('IPv4');
      const input = { family: 'IPv4', plans, settings, namespace: node, against: 'kernel' } as const;
      return { entries: differences(reading?.entries ?? assert.fail()), preview: await previewIpvs({}, input) };
    };
    const before = save();
    assert.deepEqual(before, [
      '-A -t 10.96.0.10:80 -s wrr',
      `-a -t 10.96.0.10:80 -r ${a}:8080 -m -w 1`,
      `-a -t 10.96.0.10:80 -r ${b}:8080 -m -w 3`,
      `-a -t 10.96.0.10:80 -r ${c}:8080 -m -w 0`,
    ]);
    assert.deepEqual(await look(), { entries: [], preview: '' });
    runIn(node, 'ipvsadm', `-e -t 10.96.0.10:80 -r ${b}:8080 -m -w 1`.split(' '));
    const { entries, preview } = await look();
    assert.equal(entries.length, 1, `${entries}`);
    assert.match(preview, /^-e -t 10\.96\.0\.10:80 -r 10\.244\.1\.3:8080 -m -w 3$/m);
    await mode.pass(30_000);
    assert.deepEqual(save(), before);
    await mode.restart();
    await mode.pass(10_000);
    assert.deepEqual(save(), before, 'a weight of 0 does not lead to a deletion');
  }));
