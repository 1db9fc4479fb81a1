import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { FakeIpvs } from '../../../test/support/fake-ipvs.ts';
import { service, slice } from '../../../test/support/objects.ts';
import type { Protocol } from '../../api/index.ts';
import { Model, parseNodePortAddresses } from '../../model/index.ts';
import type { Ip } from '../../net/index.ts';
import { Planner } from '../../plan/index.ts';
import type { Owner } from './ownership.ts';
import { renderContext } from './render.ts';
import { ServerTable } from './server-table.ts';
import { WantedPlans } from './wanted-plans.ts';
import { Written } from './written.ts';

/** One Service at 10.96.0.1:80 whose endpoints change. */
class OneService {
  readonly kernel = new FakeIpvs();
  readonly #model = new Model({ family: 'IPv4', nodeName: 'node-a', startedAt: 0, report: () => {} });
  readonly #planner = new Planner(this.#model, {
    node: { name: 'node-a', zone: '' },
    nodeIP: '192.168.0.2' as Ip,
    localDetector: undefined,
    masqueradeAll: false,
    allowExternalIPs: true,
  });
  readonly #plans = new WantedPlans(
    renderContext({
      family: 'IPv4',
      scheduler: 'rr',
      settings: { nodePortAddresses: parseNodePortAddresses('IPv4', []), nodePortIPs: [] },
      nodeIPs: [],
    }),
  );
  readonly #table = new ServerTable(this.kernel, 'IPv4', () => {});
  readonly #protocol: Protocol;

  constructor(protocol: Protocol = 'TCP', spec: Parameters<typeof service>[1] = {}) {
    this.#protocol = protocol;
    this.#model.setService(service('s', { ports: [{ protocol }], ...spec }));
  }

  async endpoints(...ips: string[]): Promise<readonly string[]> {
    const ports = [{ name: '', protocol: this.#protocol, port: 8080 }];
    this.#model.setEndpointSlice(slice('s-1', ips, { ports }));
    return this.write();
  }

  async spec(spec: Parameters<typeof service>[1]): Promise<readonly string[]> {
    this.#model.setService(service('s', { ports: [{ protocol: this.#protocol }], ...spec }));
    return this.write();
  }

  async delete(): Promise<readonly string[]> {
    this.#model.deleteService('default/s');
    return this.write();
  }

  /** What was asked of the kernel. */
  async write(): Promise<readonly string[]> {
    this.kernel.requests.length = 0;
    const { wanted } = this.#plans;
    this.#plans.want(this.#planner.update(this.#model.take()));
    const { servers } = wanted.takeTouched();
    this.refused = await this.#table.write(servers, { wanted, written: new Written(), progress: () => {} });
    return this.kernel.requests;
  }

  refused: Awaited<ReturnType<ServerTable['write']>> = [];

  async read(owner: Owner = 'us'): Promise<readonly string[]> {
    this.kernel.requests.length = 0;
    const { wanted } = this.#plans;
    await this.#table.read(() => owner);
    await this.#table.write(new Set([...wanted.serverIds(), ...this.#table.ids()]), {
      wanted,
      written: new Written(),
      progress: () => {},
    });
    return this.kernel.requests;
  }

  /** The Service goes, but nothing is written yet. */
  forget(): void {
    this.#model.deleteService('default/s');
    this.#plans.want(this.#planner.update(this.#model.take()));
  }

  async drain(): Promise<readonly string[]> {
    this.kernel.requests.length = 0;
    await this.#table.drain(this.#plans.wanted, new Written());
    return this.kernel.requests;
  }

  get isDraining(): boolean {
    return this.#table.isDraining;
  }
}

const WEB = '-t 10.96.0.1:80';
const KEY = { kind: 'address', protocol: 'TCP', address: '10.96.0.1' as Ip, port: 80 } as const;

describe('virtual servers', () => {
  test('IPVS-2 made once, changed in place, deleted with all they have', async () => {
    const one = new OneService();
    assert.deepEqual(await one.endpoints('10.0.0.1'), [`-A ${WEB} -s rr`, `-a ${WEB} -r 10.0.0.1:8080 -m -w 1`]);
    assert.deepEqual(await one.write(), []);
    assert.deepEqual(await one.spec({ sessionAffinity: 'ClientIP', sessionAffinityTimeoutSeconds: 60 }), [
      `-E ${WEB} -s rr -p 60`,
    ]);
    assert.deepEqual(await one.spec({ annotations: { 'pointsman.dev/scheduler': 'lc' } }), [`-E ${WEB} -s lc`]);
    assert.deepEqual(await one.delete(), [`-D ${WEB}`]);
  });

  test('IPVS-9 what was ours before it was read again still is, whatever can be told of it by now', async () => {
    const one = new OneService();
    await one.endpoints('10.0.0.1');
    one.forget();
    assert.deepEqual(await one.read('others'), [`-D ${WEB}`]);
  });

  test('IPVS-2 SCTP likewise', async () => {
    const one = new OneService('SCTP');
    assert.deepEqual(await one.endpoints(), ['-A --sctp-service 10.96.0.1:80 -s rr']);
    assert.deepEqual(await one.spec({ ports: [{ protocol: 'SCTP' }], sessionAffinity: 'ClientIP' }), [
      '-E --sctp-service 10.96.0.1:80 -s rr -p 10800',
    ]);
  });

  test('IPVS-6 what follows a refused virtual server is not blamed', async () => {
    const one = new OneService('TCP', { annotations: { 'pointsman.dev/scheduler': 'nosuch' } });
    one.kernel.missingSchedulers.add('nosuch');
    await one.endpoints('10.0.0.1', '10.0.0.2');
    assert.deepEqual(
      one.refused.map(({ object, isStale, scheduler, error }) => [object, isStale, scheduler, error.errno]),
      [[WEB, false, 'nosuch', 'ENOENT']],
    );
  });

  test('IPVS-10 that the kernel has something else shows by what it says', async () => {
    const one = new OneService();
    await one.endpoints('10.0.0.1');
    one.kernel.clear();
    await one.endpoints('10.0.0.2');
    assert.deepEqual(
      one.refused.map(({ isStale }) => isStale),
      [true],
    );
    assert.deepEqual(await one.read(), [`-A ${WEB} -s rr`, `-a ${WEB} -r 10.0.0.2:8080 -m -w 1`]);
  });
});

describe('real servers that leave', () => {
  test('IPVS-11 without connections: no new ones first, then it is deleted', async () => {
    const one = new OneService();
    await one.endpoints('10.0.0.1', '10.0.0.2');
    assert.deepEqual(await one.endpoints('10.0.0.2'), [
      `-e ${WEB} -r 10.0.0.1:8080 -m -w 0`,
      `-d ${WEB} -r 10.0.0.1:8080`,
    ]);
    assert.equal(one.isDraining, false);
  });

  for (const [kind, connections] of [
    ['active', { active: 1, inactive: 0 }],
    ['inactive', { active: 0, inactive: 1 }],
  ] as const) {
    test(`IPVS-11 with ${kind} connections: it stays without weight until the last ends`, async () => {
      const one = new OneService();
      await one.endpoints('10.0.0.1', '10.0.0.2');
      one.kernel.connections.set(`${WEB} 10.0.0.1:8080`, connections);
      assert.deepEqual(await one.endpoints('10.0.0.2'), [`-e ${WEB} -r 10.0.0.1:8080 -m -w 0`]);
      assert.deepEqual(await one.drain(), []);
      assert.equal(one.isDraining, true);
      one.kernel.connections.clear();
      assert.deepEqual(await one.drain(), [`-d ${WEB} -r 10.0.0.1:8080`]);
      assert.equal(one.isDraining, false);
    });
  }

  for (const [protocol, option] of [
    ['UDP', '-u'],
    ['SCTP', '--sctp-service'],
  ] as const) {
    test(`IPVS-11 ${protocol}: deleted at once`, async () => {
      const one = new OneService(protocol);
      await one.endpoints('10.0.0.1', '10.0.0.2');
      one.kernel.connections.set(`${option} 10.96.0.1:80 10.0.0.1:8080`, { active: 1, inactive: 0 });
      assert.deepEqual(await one.endpoints('10.0.0.2'), [`-d ${option} 10.96.0.1:80 -r 10.0.0.1:8080`]);
    });
  }

  test('IPVS-11 one that comes back gets its weight back and keeps its connections', async () => {
    const one = new OneService();
    await one.endpoints('10.0.0.1', '10.0.0.2');
    one.kernel.connections.set(`${WEB} 10.0.0.1:8080`, { active: 1, inactive: 0 });
    await one.endpoints('10.0.0.2');
    assert.deepEqual(await one.endpoints('10.0.0.1', '10.0.0.2'), [`-e ${WEB} -r 10.0.0.1:8080 -m -w 1`]);
    assert.equal(one.isDraining, false);
    assert.deepEqual(await one.drain(), []);
  });

  test('IPVS-11 one that went by itself is forgotten', async () => {
    const one = new OneService();
    await one.endpoints('10.0.0.1', '10.0.0.2');
    one.kernel.connections.set(`${WEB} 10.0.0.1:8080`, { active: 1, inactive: 0 });
    await one.endpoints('10.0.0.2');
    one.kernel.remove(WEB, '10.0.0.1:8080');
    await one.drain();
    assert.equal(one.isDraining, false);
  });

  test('IPVS-8 after a restart: wanted ones get weight 1 once each, others go on draining', async () => {
    const one = new OneService();
    await one.endpoints('10.0.0.1', '10.0.0.2', '10.0.0.3');
    one.kernel.connections.set(`${WEB} 10.0.0.9:8080`, { active: 1, inactive: 0 });
    one.kernel.put(WEB, '10.0.0.1', 0);
    one.kernel.put(WEB, '10.0.0.2', 5);
    one.kernel.put(WEB, '10.0.0.9', 0);
    assert.deepEqual(await one.read(), [`-e ${WEB} -r 10.0.0.1:8080 -m -w 1`, `-e ${WEB} -r 10.0.0.2:8080 -m -w 1`]);
    assert.equal(one.isDraining, true);
  });

  test('IPVS-11 with its Service it goes at once', async () => {
    const one = new OneService();
    await one.endpoints('10.0.0.1', '10.0.0.2');
    one.kernel.connections.set(`${WEB} 10.0.0.1:8080`, { active: 1, inactive: 0 });
    await one.endpoints('10.0.0.2');
    assert.deepEqual(await one.delete(), [`-D ${WEB}`]);
    assert.equal(one.isDraining, false);
  });
});

test('IPVS-20 whatever came and went: who is wanted has weight 1, who is not has connections and weight 0, or is gone', async () => {
  const ips = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];
  const step = fc.record({ endpoints: fc.subarray(ips), connected: fc.subarray(ips), restart: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async steps => {
      const one = new OneService();
      for (const { endpoints, connected, restart } of steps) {
        one.kernel.connections.clear();
        for (const ip of connected) one.kernel.connections.set(`${WEB} ${ip}:8080`, { active: 1, inactive: 0 });
        await one.endpoints(...endpoints);
        if (restart) await one.read();
        await one.drain();
        for (const { address, weight, activeConnections } of one.kernel.destinations(KEY)) {
          assert.equal(weight, endpoints.includes(address) ? 1 : 0);
          assert.ok(weight === 1 || activeConnections > 0);
        }
        const present = one.kernel.destinations(KEY).map(({ address }) => address);
        assert.deepEqual(
          endpoints.filter(ip => !present.includes(ip as Ip)),
          [],
        );
      }
    }),
  );
});
