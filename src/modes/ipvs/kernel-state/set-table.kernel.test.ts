import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { service, slice } from '../../../../test/support/objects.ts';
import { type Element, IpsetSocket, L4 } from '../../../kernel/ipset/index.ts';
import { NetworkNamespace } from '../../../kernel/netns.ts';
import { Model } from '../../../model/index.ts';
import { type Family, type Ip, parseCidr } from '../../../net/index.ts';
import { Planner } from '../../../plan/index.ts';
import { SetTable } from './set-table.ts';
import { SET_KEYS, SETS, type SetKey, setName } from '../names.ts';
import { Wanted } from '../wanted/wanted-objects.ts';
import { Written } from './write-report.ts';

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
  const { status, stdout, stderr } = namespace.run(() => spawnSync('ipset', args, { encoding: 'utf8' }));
  assert.equal(status, 0, stderr);
  return stdout;
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

/** What is wanted if these elements, one a set, are. */
function wantedOf(chosen: ReadonlyMap<SetKey, Element>): Wanted {
  const model = new Model({ family: 'IPv4', nodeName: '', startedAt: 0, report: () => {} });
  model.setService(service('s'));
  model.setEndpointSlice(slice('s-1', []));
  const node = { name: '', zone: '' };
  const options = { localDetector: undefined, masqueradeAll: false, allowExternalIPs: true, nodeIP: '' as Ip };
  const [plan] = new Planner(model, { node, ...options }).update(model.take()).added;
  const wanted = new Wanted();
  assert.ok(plan);
  wanted.add('s', plan, {
    servers: [],
    drops: [],
    elements: [...chosen].map(([set, element]) => ({ set, element })),
  });
  return wanted;
}

function everything(wanted: Wanted, table: SetTable): ReadonlyMap<SetKey, ReadonlySet<string>> {
  return new Map(SET_KEYS.map(set => [set, new Set([...wanted.elementTexts(set), ...table.texts(set)])]));
}

for (const family of ['IPv4', 'IPv6'] as const) {
  test(`IPVS-19 ${family}: elements of every set are added, replaced and deleted, and nothing is done twice`, () =>
    withTable(family, async (table, namespace) => {
      const state = () =>
        ipset(namespace, 'save')
          .split('\n')
          .filter(line => line.startsWith('add'))
          .sort();
      const write = async (chosen: ReadonlyMap<SetKey, Element>) => {
        const written = new Written();
        const wanted = wantedOf(chosen);
        const all = everything(wanted, table);
        assert.deepEqual(await table.add(all, wanted, written), []);
        assert.deepEqual(await table.remove(all, wanted, written), []);
        return written;
      };
      await table.read(new Written());
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
      await table.read(new Written());
      assert.equal((await write(second)).isEmpty, true, 'what is read is what was written');
      await write(new Map());
      assert.deepEqual(state(), []);
    }));
}

test('IPVS-10 what others do to sets shows in their headers', () =>
  withTable('IPv4', async (table, namespace) => {
    const wanted = wantedOf(new Map([['clusterIP', elements('clusterIP', 'IPv4')[0]]]));
    await table.read(new Written());
    await table.add(everything(wanted, table), wanted, new Written());
    table.noteReferences();
    assert.equal(table.drift(), undefined);
    ipset(namespace, 'flush', 'KUBE-CLUSTER-IP');
    assert.equal(table.drift(), 'set KUBE-CLUSTER-IP has 0 elements instead of 1');
    ipset(namespace, 'add', 'KUBE-CLUSTER-IP', '172.19.4.33,tcp:80');
    assert.equal(table.drift(), undefined);
    ipset(namespace, 'destroy', 'KUBE-IPVS-IPS');
    assert.equal(table.drift(), 'set KUBE-IPVS-IPS is gone');
  }));

test('IPVS-19 a set of the name but of another type is told', () =>
  withTable('IPv4', async (table, namespace) => {
    ipset(namespace, 'create', setName('clusterIP', 'IPv4'), 'hash:net');
    await assert.rejects(table.read(new Written()), /there is a set of this name of type hash:net; destroy it/);
  }));
