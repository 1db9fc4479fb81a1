import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { testControlGroup } from '../../../test/support/bpf-lab.ts';
import { type DetachedBpffs, openDetachedBpffs } from '../../../test/support/detached-bpffs.ts';
import { ModeHarness, modeSettingsFor } from '../../../test/support/mode-harness.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { withPinnedMap } from '../../../test/support/pinned-programs.ts';
import { TestNetwork } from '../../../test/support/test-socket.ts';
import { withCapabilities } from '../../../test/support/with-capabilities.ts';
import { namespaceCookie } from '../../kernel/netns.ts';
import { parseNodePortAddresses } from '../../model/index.ts';
import type { Ip } from '../../net/index.ts';
import type { ListedPart } from '../listing.ts';
import { entryState, type KernelReading } from '../read-back.ts';
import { EbpfMode, type EbpfOptions } from './mode.ts';
import { previewEbpf } from './preview.ts';
import { encodeTarget, frontendKey, TargetFlag } from './programs/index.ts';

const ip = (text: string) => text as Ip;
const NODE_IP = ip('192.168.0.2');
const ENDPOINTS = ['10.244.1.2', '10.244.1.3'];
const SETTINGS = { nodePortAddresses: parseNodePortAddresses('IPv4', ['192.168.0.0/24']), nodePortIPs: [NODE_IP] };

const WEB = service('web', {
  type: 'NodePort',
  clusterIP: '10.96.0.10',
  sessionAffinity: 'ClientIP',
  ports: [{ name: 'http', nodePort: 30080 }],
});
const WEB_SLICE = slice('web-1', ENDPOINTS, { ports: [{ name: 'http', port: 8080, protocol: 'TCP' }] });
const EMPTY = service('empty', { clusterIP: '10.96.0.12' });
const DNS = service('dns', { clusterIP: '10.96.0.53', ports: [{ port: 53, protocol: 'UDP' }] });

describe('what the maps of ebpf mode hold', () => {
  let bpffs: DetachedBpffs;
  let network: TestNetwork;
  let harness: ModeHarness<EbpfMode>;
  const options = (): EbpfOptions => ({ sockets: 'all', cgroupRoot: testControlGroup(), bpffs: bpffs.path });

  before(async () => {
    bpffs = openDetachedBpffs();
    network = new TestNetwork(ENDPOINTS.map(ip), 8080);
    const { namespace } = network;
    const listedNamespaces = [namespaceCookie(namespace)];
    harness = new ModeHarness(
      events =>
        new EbpfMode({
          events,
          namespace,
          families: ['IPv4'],
          ...options(),
          countConnections: true,
          listedNamespaces,
        }),
      { settings: SETTINGS },
    );
    harness.set(WEB, WEB_SLICE, EMPTY, DNS);
    await harness.sync();
  });

  after(async () => {
    await harness.close();
    network.close();
    bpffs.close();
  });

  const read = async (name: string): Promise<KernelReading> => {
    const plan = harness.plans().find(({ service: key }) => key === `default/${name}`);
    assert.ok(plan);
    return await harness.mode.readBack('IPv4', plan);
  };
  const linesOf = ({ entries }: KernelReading, place: string) =>
    entries.filter(entry => entry.place === place).map(({ found }) => found);

  test('READ-11 EBPF-83 a reading has the links, frontends, pools, slots and members of a service port', async () => {
    const reading = await read('web');
    assert.ok(reading.entries.every(entry => entryState(entry) === 'equal'));
    assert.equal(reading.incomplete, undefined);
    assert.deepEqual(linesOf(reading, `control group ${testControlGroup()}`), [
      'connect4 : attached',
      'connect6 : attached',
      'getpeername4 : attached',
      'getpeername6 : attached',
    ]);
    const [frontend = '', nodePort] = linesOf(reading, 'map frontends4');
    const [, pool = ''] = /^10\.96\.0\.10:80 : pool (\d+) \(affinity 10800 s\)$/.exec(frontend) ?? [];
    assert.equal(nodePort, `node port 30080 : pool ${pool} (affinity 10800 s)`);
    const [run = ''] = linesOf(reading, 'map pools');
    const [, first = ''] = new RegExp(`^pool ${pool} : slots (\\d+) to \\d+$`).exec(run ?? '') ?? [];
    assert.deepEqual(
      linesOf(reading, 'map slots4'),
      ENDPOINTS.map((endpoint, i) => `slot ${Number(first) + i} : ${endpoint}:8080`),
    );
    assert.deepEqual(
      linesOf(reading, 'map members4'),
      ENDPOINTS.map(endpoint => `pool ${pool} : ${endpoint}:8080`),
    );
    assert.deepEqual(linesOf(reading, 'map nodeAddresses4'), ['192.168.0.2 : any caller']);
  });

  test('READ-11 EBPF-83 a Service without endpoints refuses, and other protocols have no entries', async () => {
    assert.deepEqual(linesOf(await read('empty'), 'map frontends4'), ['10.96.0.12:80 : refuse']);
    assert.deepEqual((await read('dns')).entries, []);
  });

  test('READ-11 EBPF-85 connections are counted, and the namespace of a client is named', async () => {
    const endpoint = network.ask(ip('10.96.0.10'), 80);
    const { entries, affinity } = await read('web');
    assert.deepEqual(entries.find(({ place }) => place === 'map frontends4')?.counted, 1);
    const [client] = affinity;
    assert.deepEqual([affinity.length, client?.client, client?.endpoint], [1, 'node', endpoint]);
    assert.ok((client?.secondsLeft ?? 0) > 10_700 && (client?.secondsLeft ?? 0) <= 10_801);
  });

  test('EBPF-82 a difference has only what the pinned programs do not look up', async () => {
    const diff = () =>
      previewEbpf(options(), {
        family: 'IPv4',
        plans: harness.plans(),
        settings: modeSettingsFor('IPv4', SETTINGS),
        against: 'kernel',
        namespace: network.namespace,
      });
    assert.equal(await diff(), '');
    const key = frontendKey({ family: 'IPv4', ip: ip('10.96.0.12'), port: 80 });
    const other = frontendKey({ family: 'IPv4', ip: ip('10.96.0.99'), port: 80 });
    const refuse = encodeTarget({ pool: 0, flags: TargetFlag.refuse, affinitySeconds: 0, counter: 0, identity: 0n });
    withPinnedMap(bpffs.path, 'connect4', 'frontends4', map => {
      map.remove(key);
      map.update(other, refuse);
    });
    try {
      assert.deepEqual((await diff()).split('\n'), [
        '# IPv4 sockets: changes of what programs look up inside connect()',
        '- frontend 10.96.0.99:80 : refuse',
        '+ frontend 10.96.0.12:80 : refuse',
        '',
      ]);
    } finally {
      withPinnedMap(bpffs.path, 'connect4', 'frontends4', map => {
        map.remove(other);
        map.update(key, refuse);
      });
    }
  });

  test('EBPF-82 without pins everything is new', async () => {
    const plans = harness.plans().filter(plan => plan.service === 'default/empty');
    const settings = modeSettingsFor('IPv4', { ...SETTINGS, nodePortIPs: [] });
    const input = { family: 'IPv4', plans, settings, against: 'kernel', namespace: network.namespace } as const;
    assert.deepEqual((await previewEbpf({ ...options(), bpffs: '/nowhere' }, input)).split('\n').slice(1), [
      '+ frontend 10.96.0.12:80 : refuse',
      '',
    ]);
  });

  test('EBPF-82 a process that may not open the maps says so, and the rest is compared', async () => {
    const settings = modeSettingsFor('IPv4', { ...SETTINGS, nodePortIPs: [] });
    const input = { family: 'IPv4', plans: [], settings, against: 'kernel', namespace: undefined } as const;
    assert.match(
      await withCapabilities(['CAP_BPF', 'CAP_NET_ADMIN'], () => previewEbpf(options(), input)),
      /^# IPv4 sockets: not compared with the kernel, but .* explain .*: bpf PROG_GET_FD_BY_ID .*: EPERM; .*CAP_SYS_ADMIN\n$/,
    );
  });

  test('LISTING-9 EBPF-86 a listing has the programs, the maps that they look up, and the lines of one Service', async () => {
    const plans = harness.plans().filter(plan => plan.service === 'default/web');
    const { blocks } = await harness.mode.listing('IPv4', plans);
    assert.deepEqual(new Set(blocks.map(({ group }) => group)), new Set(['sockets: connect()']));
    const names = blocks.map(({ kind, name }) => `${kind} ${name}`);
    assert.deepEqual(names.slice(0, 3), ['program connect4', 'map namespaces', 'map frontends4']);
    assert.ok(names.includes('program getpeername4') && !names.includes('program connect6'));
    const [program] = blocks;
    assert.equal(program?.command, 'bpftool prog dump xlated name connect4');
    assert.ok(program?.lines.some(({ parts }) => parts.some(part => textOf(part) === 'map[frontends4]')));
    assert.ok(blocks.every(({ about = '', command = '' }) => about !== '' && command !== ''));
    const block = (name: string) => blocks.find(each => each.name === name);
    const texts = (name: string) => block(name)?.lines.map(({ parts }) => parts.map(textOf).join(''));
    const reading = await read('web');
    for (const name of ['frontends4', 'nodeAddresses4', 'pools', 'slots4', 'members4']) {
      assert.deepEqual(texts(name), linesOf(reading, `map ${name}`), name);
    }
    assert.equal(block('frontends4')?.total, 3, 'of all Services');
    assert.deepEqual(block('frontends4')?.lines[0]?.parts[1], {
      text: texts('pools')?.[0]?.split(' : ')[0],
      block: 'map pools',
    });
  });
});

function textOf(part: ListedPart): string {
  return typeof part === 'string' ? part : part.text;
}
