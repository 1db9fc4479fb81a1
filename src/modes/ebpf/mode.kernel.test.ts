import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { EbpfLab } from '../../../test/support/ebpf-mode.ts';
import { loopbackOf, withRoutes } from '../../../test/support/namespaces.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { TestSocket } from '../../../test/support/test-socket.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { BpfMap, closeObject, mapById, mapInfo } from '../../kernel/bpf/index.ts';
import type { Ip } from '../../net/index.ts';
import { entryState } from '../read-back.ts';
import { decodeLease } from './programs/index.ts';

const WEB = service('web', { clusterIP: '10.96.0.10' });
const STICKY = service('sticky', { clusterIP: '10.96.0.20', sessionAffinity: 'ClientIP' });

/** More frontends than a generation has room for at first. */
const LARGE = service('large', {
  clusterIP: '10.96.0.30',
  externalIPs: Array.from({ length: 4200 }, (_, i) => `10.97.${i >> 8}.${i & 255}`),
});

describe('EBPF-7 restarts and new generations', () => {
  test('EBPF-7 both families are served, and a Service without endpoints refuses', () =>
    EbpfLab.with(async lab => {
      lab.harness.set(WEB, slice('web-1', ['10.244.1.2']));
      lab.harness.set(service('six', { clusterIP: 'fd00:10:96::1' }), slice('six-1', ['fd00:10:244::2']));
      lab.harness.set(service('none', { clusterIP: '10.96.0.11' }));
      await lab.harness.sync();
      assert.equal(lab.ask('10.96.0.10'), '10.244.1.2');
      assert.equal(lab.ask('fd00:10:96::1'), '[fd00:10:244::2]');
      assert.equal(lab.ask('10.96.0.11'), 'ECONNREFUSED');
      assert.deepEqual(lab.lines, []);
    }));

  test('EBPF-32 a change of endpoints needs no system call', t =>
    EbpfLab.with(async lab => {
      lab.harness.set(WEB, slice('web-1', ['10.244.1.2']));
      await lab.harness.sync();
      const update = t.mock.method(BpfMap.prototype, 'updateBatch');
      lab.harness.set(slice('web-1', ['10.244.1.3']));
      await lab.harness.sync();
      assert.equal(lab.ask('10.96.0.10'), '10.244.1.3');
      const entries = update.mock.calls.map(({ arguments: [keys] }) => keys.length);
      assert.equal(
        entries.reduce((sum, each) => sum + each, 0),
        0,
      );
    }));

  test('EBPF-44 a proxy that looks for drift renews the lease', () =>
    EbpfLab.with(async lab => {
      lab.harness.set(WEB, slice('web-1', ['10.244.1.2']));
      await lab.harness.sync();
      const [lease, first] = [lab.harness.mode.maps?.get('lease'), Buffer.alloc(4)];
      const secondsLeft = () =>
        Number(decodeLease(lease?.lookup(first) ?? Buffer.alloc(8)) - process.hrtime.bigint()) / 1e9;
      assert.ok(secondsLeft() > 50 && secondsLeft() <= 60, `${secondsLeft()}`);
      lease?.update(first, Buffer.alloc(8));
      assert.equal(lab.ask('10.96.0.10'), 'ENETUNREACH');
      await lab.harness.mode.lookForDrift('quick');
      assert.ok(secondsLeft() > 50 && secondsLeft() <= 60, `${secondsLeft()}`);
      assert.equal(lab.ask('10.96.0.10'), '10.244.1.2');
    }));

  test('EBPF-7 the programs serve on without a process, and a new process takes them over', () =>
    EbpfLab.with(async lab => {
      lab.harness.set(WEB, STICKY, slice('web-1', ['10.244.1.2']), slice('sticky-1', ['10.244.1.2', '10.244.1.3']));
      await lab.harness.sync();
      const before = new TestSocket(lab.network.namespace, 'IPv4');
      assert.equal(before.connect('10.96.0.10' as Ip, 80), 'connected');
      lab.network.takenBy();
      const sticky = lab.ask('10.96.0.20');
      await lab.harness.close();
      assert.equal(lab.ask('10.96.0.10'), '10.244.1.2');
      lab.harness.set(slice('web-1', ['10.244.1.2', '10.244.1.3']));
      lab.harness.plans('IPv4');
      const answers = await lab.answersWhile(lab.harness.restart(), '10.96.0.10');
      assert.deepEqual(
        answers.filter(answer => !answer.startsWith('10.244.1.')),
        [],
      );
      assert.deepEqual(lab.answers('10.96.0.10'), ['10.244.1.2', '10.244.1.3']);
      assert.deepEqual(lab.answers('10.96.0.20'), [sticky]);
      assert.equal(before.peer(), '10.96.0.10:80');
      before.close();
      assert.deepEqual(lab.lines, []);
    }));

  test('EBPF-7 a map that is full is made anew while connections go on', () =>
    EbpfLab.with(async lab => {
      lab.harness.set(WEB, slice('web-1', ['10.244.1.2']));
      await lab.harness.sync();
      lab.harness.set(LARGE);
      assert.deepEqual(await lab.answersWhile(lab.harness.sync(), '10.96.0.10'), ['10.244.1.2']);
      assert.deepEqual([lab.ask('10.97.0.0'), lab.ask('10.97.16.103')], ['ECONNREFUSED', 'ECONNREFUSED']);
      lab.harness.deleteService('default/large');
      await lab.harness.sync();
      assert.deepEqual([lab.ask('10.97.16.103'), lab.ask('10.96.0.10')], ['ENETUNREACH', '10.244.1.2']);
    }));

  test('EBPF-7 slots that changes used up are made anew while connections go on', () =>
    EbpfLab.with(async lab => {
      const many = Array.from({ length: 900 }, (_, i) => `10.245.${i >> 8}.${i & 255}`);
      lab.harness.set(WEB, slice('web-1', ['10.244.1.2']));
      await lab.harness.sync();
      const mapsNow = () => new Map(lab.harness.mode.maps);
      const before = mapsNow();
      for (let i = 0; i < 12; i++) {
        lab.harness.set(service('many', { clusterIP: '10.96.0.30' }), slice('many-1', many.slice(i)));
        assert.deepEqual(await lab.answersWhile(lab.harness.sync(), '10.96.0.10'), ['10.244.1.2']);
      }
      const isNew = [...mapsNow()].filter(([name, map]) => before.get(name) !== map).map(([name]) => name);
      assert.deepEqual(isNew.sort(), ['pools', 'slots4', 'slots6']);
      lab.harness.set(slice('many-1', ['10.244.1.3']));
      await lab.harness.sync();
      assert.equal(lab.ask('10.96.0.30'), '10.244.1.3');
    }));

  test('EBPF-7 until all families are planned, the programs of the former process serve', () =>
    EbpfLab.with(async lab => {
      lab.harness.set(WEB, slice('web-1', ['10.244.1.2']));
      await lab.harness.sync();
      await lab.harness.close();
      const next = new EbpfLab(lab.bpffs, { namespace: lab.network.namespace });
      next.harness.set(WEB, slice('web-1', ['10.244.1.3']));
      await next.harness.sync({}, ['IPv4']);
      assert.equal(next.harness.mode.condition().isServing, false);
      assert.equal(lab.ask('10.96.0.10'), '10.244.1.2');
      await next.harness.sync({}, ['IPv6']);
      assert.equal(next.harness.mode.condition().isServing, true);
      await next.harness.close();
      next.network.close();
    }));
});

describe('changes at run time', () => {
  test('EBPF-33 an address that the node gets and loses is followed', () =>
    EbpfLab.with(async lab => {
      const nodePort = service('web', { clusterIP: '10.96.0.10', type: 'NodePort', ports: [{ nodePort: 30080 }] });
      lab.harness.set(nodePort, slice('web-1', ['10.244.1.2']));
      await lab.harness.sync();
      assert.equal(lab.ask('192.168.7.7', 30080), 'ENETUNREACH');
      withRoutes(lab.network.namespace, route =>
        route.addAddress(loopbackOf(route), { ip: '192.168.7.7' as Ip, prefix: 32 }),
      );
      await waitFor('the node port answers at the new address', () => lab.ask('192.168.7.7', 30080) === '10.244.1.2');
      // The node's own process would listen at this address.
      withRoutes(lab.network.namespace, route =>
        route.addAddress(loopbackOf(route), { ip: '10.96.0.10' as Ip, prefix: 32 }),
      );
      await waitFor('the cluster IP is left to the node', () => lab.ask('10.96.0.10') === 'ECONNREFUSED');
      withRoutes(lab.network.namespace, route =>
        route.deleteAddress(loopbackOf(route), { ip: '10.96.0.10' as Ip, prefix: 32 }),
      );
      await waitFor('the cluster IP is served again', () => lab.ask('10.96.0.10') === '10.244.1.2');
    }));

  test("EBPF-41 a frontend that is left alone at a node's address is no node port of another Service", () =>
    EbpfLab.with(async lab => {
      const nodePort = service('web', { clusterIP: '10.96.0.10', type: 'NodePort', ports: [{ nodePort: 30080 }] });
      const guarded = (loadBalancerSourceRanges: readonly string[]) =>
        service('guarded', {
          clusterIP: '10.96.0.11',
          type: 'LoadBalancer',
          ingress: [{ ip: '192.168.7.7' }],
          loadBalancerSourceRanges,
          ports: [{ port: 30080 }],
        });
      lab.harness.set(
        nodePort,
        guarded(['10.0.0.0/8']),
        slice('web-1', ['10.244.1.2']),
        slice('guarded-1', ['10.244.1.3']),
      );
      await lab.harness.sync();
      const address = { ip: '192.168.7.7' as Ip, prefix: 32 };
      withRoutes(lab.network.namespace, route => {
        for (const ip of ['192.168.7.7', '192.168.7.8'] as Ip[])
          route.addAddress(loopbackOf(route), { ...address, ip });
      });
      await waitFor('the node port answers', () => lab.ask('192.168.7.8', 30080) === '10.244.1.2');
      assert.equal(lab.ask('192.168.7.7', 30080), 'ECONNREFUSED');
      const plan = lab.harness.plans('IPv4').find(({ service: key }) => key === 'default/guarded');
      assert.ok(plan);
      const { entries } = await lab.harness.mode.readBack('IPv4', plan);
      assert.ok(entries.every(entry => entryState(entry) === 'equal'));
      assert.ok(entries.some(({ found }) => found === '192.168.7.7:30080 : leave to the network'));
      lab.harness.set(guarded([]));
      await lab.harness.sync();
      assert.equal(lab.ask('192.168.7.7', 30080), '10.244.1.3');
      assert.deepEqual(lab.lines, []);
    }));

  test('EBPF-34 sockets leave alone what the network does not serve', () =>
    EbpfLab.with(async lab => {
      lab.harness.set(WEB, slice('web-1', ['10.244.1.2']));
      await lab.harness.sync();
      const { mode } = lab.harness;
      await mode.leave('IPv4', ['default/web/TCP']);
      assert.equal(lab.ask('10.96.0.10'), 'ENETUNREACH');
      lab.harness.set(slice('web-1', ['10.244.1.3']));
      await lab.harness.sync();
      assert.equal(lab.ask('10.96.0.10'), 'ENETUNREACH');
      await mode.leave('IPv4', []);
      assert.equal(lab.ask('10.96.0.10'), '10.244.1.3');
    }));

  test('EBPF-35 counts of connections outlive a generation', () =>
    EbpfLab.with(
      async lab => {
        lab.harness.set(WEB, slice('web-1', ['10.244.1.2']));
        await lab.harness.sync();
        for (let i = 0; i < 3; i++) lab.ask('10.96.0.10');
        assert.deepEqual([...((await lab.harness.mode.connectionCounts()) ?? [])], [['default/web', 3]]);
        lab.harness.set(STICKY, slice('sticky-1', ['10.244.1.2']));
        await lab.harness.sync();
        lab.ask('10.96.0.10');
        lab.ask('10.96.0.20');
        assert.deepEqual(
          [...((await lab.harness.mode.connectionCounts()) ?? [])],
          [
            ['default/web', 4],
            ['default/sticky', 1],
          ],
        );
      },
      { countConnections: true },
    ));

  test('EBPF-35 a service port that is gone and comes again does not get its former counts again', () =>
    EbpfLab.with(
      async lab => {
        const counts = async () => [...((await lab.harness.mode.connectionCounts()) ?? [])];
        lab.harness.set(WEB, slice('web-1', ['10.244.1.2']));
        await lab.harness.sync();
        for (let i = 0; i < 3; i++) lab.ask('10.96.0.10');
        // It needs another generation.
        lab.harness.set(STICKY, slice('sticky-1', ['10.244.1.2']));
        await lab.harness.sync();
        assert.deepEqual(await counts(), [['default/web', 3]]);
        lab.harness.deleteService('default/web');
        await lab.harness.sync();
        assert.deepEqual(await counts(), []);
        lab.harness.set(WEB);
        await lab.harness.sync();
        assert.deepEqual(await counts(), []);
        lab.ask('10.96.0.10');
        assert.deepEqual(await counts(), [['default/web', 1]]);
      },
      { countConnections: true },
    ));

  test('EBPF-37 maps for affinity and least connections exist only while a Service needs them', () =>
    EbpfLab.with(async lab => {
      const least = { annotations: { 'pointsman.dev/balance': 'least-connections' } };
      const stateMaps = () => lab.pins().filter(name => !name.startsWith('link-'));
      lab.harness.set(WEB, slice('web-1', ['10.244.1.2']));
      await lab.harness.sync();
      assert.deepEqual(stateMaps(), ['peers']);
      lab.harness.set(STICKY, service('least', { clusterIP: '10.96.0.30', ...least }));
      lab.harness.set(slice('sticky-1', ['10.244.1.2']), slice('least-1', ['10.244.1.3']));
      await lab.harness.sync();
      assert.deepEqual(stateMaps(), ['active4', 'active6', 'affinity4', 'affinity6', 'peers']);
      assert.ok(lab.pins().includes('link-release'));
      assert.deepEqual([lab.ask('10.96.0.20'), lab.ask('10.96.0.30')], ['10.244.1.2', '10.244.1.3']);
      lab.harness.deleteService('default/sticky');
      lab.harness.deleteService('default/least');
      await lab.harness.sync();
      await lab.harness.mode.lookForDrift();
      assert.deepEqual(stateMaps(), ['peers']);
      assert.ok(!lab.pins().includes('link-release'));
      assert.equal(lab.ask('10.96.0.10'), '10.244.1.2');
      assert.deepEqual(lab.lines, []);
    }));

  test('EBPF-38 a generation that was replaced ends, with its maps, programs and descriptors', () =>
    EbpfLab.with(async lab => {
      const { mode } = lab.harness;
      const descriptors = () => readdirSync('/proc/self/fd').length;
      lab.harness.set(WEB, slice('web-1', ['10.244.1.2']));
      await lab.harness.sync();
      const before = descriptors();
      const ids: number[] = [];
      for (let i = 0; i < 3; i++) {
        const map = mode.maps?.get('frontends4') ?? assert.fail('there is no map');
        ids.push(mapInfo(map.fd).id);
        map.removeBatch(map.entries().keys);
        await mode.lookForDrift();
      }
      assert.equal(lab.lines.length, 3);
      assert.equal(descriptors(), before);
      // The kernel frees a map some time after its last user is gone.
      await waitFor('the kernel has none of the maps', () => ids.every(id => !existsMap(id)));
      await lab.harness.close();
      assert.equal(lab.ask('10.96.0.10'), '10.244.1.2');
    }));
});

function existsMap(id: number): boolean {
  try {
    closeObject(mapById(id));
    return true;
  } catch {
    return false;
  }
}
