import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planOf } from '../../../../test/support/plans.ts';
import { runIn } from '../../../../test/support/run-in.ts';
import { type Element, IpsetSocket, L4 } from '../../../kernel/ipset/index.ts';
import { NetworkNamespace } from '../../../kernel/netns.ts';
import { type Family, type Ip, parseCidr } from '../../../net/index.ts';
import { allNames } from '../diff.ts';
import { SET_KEYS, SETS, type SetKey, setName } from '../names.ts';
import { type ElementNames, WantedObjects } from '../wanted/wanted-objects.ts';
import { SetTable } from './set-table.ts';
import { WriteSummary } from './write-report.ts';

const ADDRESSES = {
  IPv4: { ips: ['172.19.4.33', '172.19.4.34'], net: '10.0.0.0/8' },
  IPv6: { ips: ['10::40', '10::41'], net: '10:20::/64' },
} as const;

/** Two elements of the set's type. */
function elements(set: SetKey, family: Family): readonly [Element, Element] {
  const { ips, net } = ADDRESSES[family];
  const of = (ip: Ip, port: number): Element => {
    const base = { ip, protocol: L4.TCP, port };
    switch (SETS[set].type) {
      case 'hash:ip':
        return { kind: 'hash:ip', ip };
      case 'hash:ip,port':
        return { kind: 'hash:ip,port', ...base };
      case 'hash:ip,port,ip':
        return { kind: 'hash:ip,port,ip', ...base, ip2: ip };
      case 'hash:ip,port,net':
        return { kind: 'hash:ip,port,net', ...base, net: parseCidr(net) ?? assert.fail() };
      case 'bitmap:port':
        return { kind: 'bitmap:port', port };
    }
  };
  return [of(ips[0] as Ip, 80), of(ips[1] as Ip, 8080)];
}

function ipset(namespace: NetworkNamespace, ...args: string[]): string {
  return runIn(namespace, 'ipset', args);
}

async function withTable(
  family: Family,
  work: (table: SetTable, namespace: NetworkNamespace) => Promise<void>,
): Promise<void> {
  const namespace = NetworkNamespace.create();
  const socket = IpsetSocket.open({ namespace });
  try {
    await work(new SetTable(socket, family, () => {}), namespace);
  } finally {
    socket.close();
    namespace.close();
  }
}

/** Wants one element in each set. */
function wantedOf(chosen: ReadonlyMap<SetKey, Element>): WantedObjects {
  const wanted = new WantedObjects();
  const elements = [...chosen].map(([set, element]) => ({ set, element }));
  wanted.add('s', planOf('s', []), { servers: [], drops: [], elements });
  return wanted;
}

function everything(wanted: WantedObjects, { known }: SetTable): ElementNames {
  return allNames(wanted, { elements: known, addresses: new Set(), servers: new Map() }).elements;
}

async function readAndCreate(table: SetTable): Promise<void> {
  await table.read();
  await table.createMissing(new WriteSummary());
}

for (const family of ['IPv4', 'IPv6'] as const) {
  test(`IPVS-19 ${family}: the table adds, replaces and deletes elements of every set, and does nothing twice`, () =>
    withTable(family, async (table, namespace) => {
      const state = () =>
        ipset(namespace, 'save')
          .split('\n')
          .filter(line => line.startsWith('add'))
          .sort();
      const write = async (chosen: ReadonlyMap<SetKey, Element>) => {
        const summary = new WriteSummary();
        const wanted = wantedOf(chosen);
        const all = everything(wanted, table);
        assert.deepEqual(await table.add(all, wanted, summary), []);
        assert.deepEqual(await table.remove(all, wanted, summary), []);
        return summary;
      };
      await readAndCreate(table);
      assert.equal(ipset(namespace, 'list', '-n').trim().split('\n').length, 17);
      const first = new Map(SET_KEYS.map(set => [set, elements(set, family)[0]]));
      const second = new Map(SET_KEYS.map(set => [set, elements(set, family)[1]]));
      await write(first);
      const one = state();
      assert.equal(one.length, 17);
      await write(second);
      const two = state();
      assert.equal(new Set([...one, ...two]).size, 34);
      assert.equal((await write(second)).isEmpty, true);
      await table.read();
      assert.deepEqual(table.missing, []);
      assert.equal((await write(second)).isEmpty, true, 'what is read is what was written');
      await write(new Map());
      assert.deepEqual(state(), []);
    }));
}

test('IPVS-10 headers show that another program changed sets', () =>
  withTable('IPv4', async (table, namespace) => {
    const wanted = wantedOf(new Map([['clusterIP', elements('clusterIP', 'IPv4')[0]]]));
    await readAndCreate(table);
    await table.add(everything(wanted, table), wanted, new WriteSummary());
    table.noteReferences();
    assert.equal(table.drift(), undefined);
    ipset(namespace, 'flush', 'KUBE-CLUSTER-IP');
    assert.equal(table.drift(), 'set KUBE-CLUSTER-IP has 0 elements instead of 1');
    ipset(namespace, 'add', 'KUBE-CLUSTER-IP', '172.19.4.33,tcp:80');
    assert.equal(table.drift(), undefined);
    ipset(namespace, 'destroy', 'KUBE-IPVS-IPS');
    assert.equal(table.drift(), 'set KUBE-IPVS-IPS is gone');
  }));

test('IPVS-19 a set with our name and another type is an error', () =>
  withTable('IPv4', async (table, namespace) => {
    ipset(namespace, 'create', setName('clusterIP', 'IPv4'), 'hash:net');
    await assert.rejects(table.read(), /there is a set of this name of type hash:net; destroy it/);
  }));

test('IPVS-21 reading creates no sets', () =>
  withTable('IPv6', async (table, namespace) => {
    await table.read();
    assert.deepEqual(table.missing, SET_KEYS);
    assert.equal(ipset(namespace, 'list', '-n'), '');
  }));
