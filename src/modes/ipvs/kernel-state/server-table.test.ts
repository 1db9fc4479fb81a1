import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { FakeIpvs } from '../../../../test/support/fake-ipvs.ts';
import { service, slice } from '../../../../test/support/objects.ts';
import type { Protocol } from '../../../api/index.ts';
import { Model, parseNodePortAddresses } from '../../../model/index.ts';
import type { Ip } from '../../../net/index.ts';
import { Planner } from '../../../plan/index.ts';
import { renderContext } from '../render.ts';
import { RenderedPlans } from '../wanted/rendered-plans.ts';
import type { Owner } from './ownership.ts';
import { ServerTable } from './server-table.ts';
import { WriteSummary } from './write-report.ts';

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
  readonly #plans = new RenderedPlans(
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

  /** Returns the requests to the kernel. */
  async write(): Promise<readonly string[]> {
    this.kernel.requests.length = 0;
    const { wanted } = this.#plans;
    this.#plans.take(this.#planner.update(this.#model.take()));
    const { servers } = wanted.takeChanged();
    this.refused = await this.#table.write(servers, { wanted, summary: new WriteSummary(), progress: () => {} });
    return this.kernel.requests;
  }

  refused: Awaited<ReturnType<ServerTable['write']>> = [];

  async read(owner: Owner = 'us'): Promise<readonly string[]> {
    this.kernel.requests.length = 0;
    const { wanted } = this.#plans;
    await this.#table.read(() => owner);
    await this.#table.write(new Set([...wanted.serverIds(), ...this.#table.known.keys()]), {
      wanted,
      summary: new WriteSummary(),
      progress: () => {},
    });
    return this.kernel.requests;
  }

  /** Deletes the Service, but writes nothing yet. */
  forget(): void {
    this.#model.deleteService('default/s');
    this.#plans.take(this.#planner.update(this.#model.take()));
  }

  async drain(): Promise<readonly string[]> {
    this.kernel.requests.length = 0;
    await this.#table.drain(this.#plans.wanted);
    return this.kernel.requests;
  }

  get isDraining(): boolean {
    return this.#table.isDraining;
  }
}

const WEB = '-t 10.96.0.1:80';
const KEY = { kind: 'address', protocol: 'TCP', address: '10.96.0.1' as Ip, port: 80 } as const;

describe('virtual servers', () => {
  test('IPVS-2 a virtual server is made once, changed in place, and deleted with its real servers', async () => {
    const one = new OneService();
    assert.deepEqual(await one.endpoints('10.0.0.1'), [`-A ${WEB} -s rr`, `-a ${WEB} -r 10.0.0.1:8080 -m -w 1`]);
    assert.deepEqual(await one.write(), []);
    assert.deepEqual(await one.spec({ sessionAffinity: 'ClientIP', sessionAffinityTimeoutSeconds: 60 }), [
      `-E ${WEB} -s rr -p 60`,
    ]);
    assert.deepEqual(await one.spec({ annotations: { 'pointsman.dev/scheduler': 'lc' } }), [`-E ${WEB} -s lc`]);
    assert.deepEqual(await one.delete(), [`-D ${WEB}`]);
  });

  test('IPVS-9 a virtual server that this process made is still its own after reading again', async () => {
    const one = new OneService();
    await one.endpoints('10.0.0.1');
    one.forget();
    assert.deepEqual(await one.read('others'), [`-D ${WEB}`]);
  });

  test('IPVS-2 a virtual server of SCTP is made and changed in place too', async () => {
    const one = new OneService('SCTP');
    assert.deepEqual(await one.endpoints(), ['-A --sctp-service 10.96.0.1:80 -s rr']);
    assert.deepEqual(await one.spec({ ports: [{ protocol: 'SCTP' }], sessionAffinity: 'ClientIP' }), [
      '-E --sctp-service 10.96.0.1:80 -s rr -p 10800',
    ]);
  });

  test('IPVS-6 if the kernel refuses a virtual server, its real servers are not reported too', async () => {
    const one = new OneService('TCP', { annotations: { 'pointsman.dev/scheduler': 'nosuch' } });
    one.kernel.missingSchedulers.add('nosuch');
    await one.endpoints('10.0.0.1', '10.0.0.2');
    assert.deepEqual(
      one.refused.map(({ id, isStale, missingScheduler, error }) => [id, isStale, missingScheduler, error.errno]),
      [[WEB, false, 'nosuch', 'ENOENT']],
    );
  });

  test('IPVS-10 an error of the kernel shows that it has something else', async () => {
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
  test('IPVS-11 a real server without connections first gets weight 0 and is then deleted', async () => {
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
    test(`IPVS-11 a real server with ${kind} connections has weight 0 until the last one ends`, async () => {
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
    test(`IPVS-11 a real server of ${protocol} is deleted at once`, async () => {
      const one = new OneService(protocol);
      await one.endpoints('10.0.0.1', '10.0.0.2');
      one.kernel.connections.set(`${option} 10.96.0.1:80 10.0.0.1:8080`, { active: 1, inactive: 0 });
      assert.deepEqual(await one.endpoints('10.0.0.2'), [`-d ${option} 10.96.0.1:80 -r 10.0.0.1:8080`]);
    });
  }

  test('IPVS-11 a real server that comes back gets weight 1 and keeps its connections', async () => {
    const one = new OneService();
    await one.endpoints('10.0.0.1', '10.0.0.2');
    one.kernel.connections.set(`${WEB} 10.0.0.1:8080`, { active: 1, inactive: 0 });
    await one.endpoints('10.0.0.2');
    assert.deepEqual(await one.endpoints('10.0.0.1', '10.0.0.2'), [`-e ${WEB} -r 10.0.0.1:8080 -m -w 1`]);
    assert.equal(one.isDraining, false);
    assert.deepEqual(await one.drain(), []);
  });

  test('IPVS-11 a real server that another program deleted is forgotten', async () => {
    const one = new OneService();
    await one.endpoints('10.0.0.1', '10.0.0.2');
    one.kernel.connections.set(`${WEB} 10.0.0.1:8080`, { active: 1, inactive: 0 });
    await one.endpoints('10.0.0.2');
    one.kernel.remove(WEB, '10.0.0.1:8080');
    await one.drain();
    assert.equal(one.isDraining, false);
  });

  test('IPVS-8 after a restart, wanted real servers get weight 1 once, and others go on draining', async () => {
    const one = new OneService();
    await one.endpoints('10.0.0.1', '10.0.0.2', '10.0.0.3');
    one.kernel.connections.set(`${WEB} 10.0.0.9:8080`, { active: 1, inactive: 0 });
    one.kernel.put(WEB, '10.0.0.1', 0);
    one.kernel.put(WEB, '10.0.0.2', 5);
    one.kernel.put(WEB, '10.0.0.9', 0);
    assert.deepEqual(await one.read(), [`-e ${WEB} -r 10.0.0.1:8080 -m -w 1`, `-e ${WEB} -r 10.0.0.2:8080 -m -w 1`]);
    assert.equal(one.isDraining, true);
  });

  test('IPVS-11 the real servers of a deleted Service are deleted at once', async () => {
    const one = new OneService();
    await one.endpoints('10.0.0.1', '10.0.0.2');
    one.kernel.connections.set(`${WEB} 10.0.0.1:8080`, { active: 1, inactive: 0 });
    await one.endpoints('10.0.0.2');
    assert.deepEqual(await one.delete(), [`-D ${WEB}`]);
    assert.equal(one.isDraining, false);
  });
});

describe('weights of a Service', () => {
  const weighted = (weights: string) => ({
    annotations: { 'pointsman.dev/balance': 'weighted', 'pointsman.dev/weights': weights },
  });

  test('BALANCE-49 a real server with weight 0 stays, whether it has connections or not', async () => {
    const one = new OneService('TCP', weighted('10.0.0.1=0,10.0.0.2=3'));
    assert.deepEqual(await one.endpoints('10.0.0.1', '10.0.0.2'), [
      `-A ${WEB} -s wrr`,
      `-a ${WEB} -r 10.0.0.1:8080 -m -w 0`,
      `-a ${WEB} -r 10.0.0.2:8080 -m -w 3`,
    ]);
    assert.deepEqual([one.isDraining, await one.drain(), await one.read()], [false, [], []]);
    assert.deepEqual(await one.spec(weighted('10.0.0.1=2,10.0.0.2=3')), [`-e ${WEB} -r 10.0.0.1:8080 -m -w 2`]);
  });

  test('BALANCE-49 a real server with weight 0 that leaves is deleted when its last connection ends', async () => {
    const one = new OneService('TCP', weighted('10.0.0.1=0,10.0.0.2=3'));
    await one.endpoints('10.0.0.1', '10.0.0.2', '10.0.0.3');
    one.kernel.connections.set(`${WEB} 10.0.0.1:8080`, { active: 1, inactive: 0 });
    assert.deepEqual(await one.endpoints('10.0.0.2', '10.0.0.3'), []);
    assert.equal(one.isDraining, true);
    one.kernel.connections.clear();
    assert.deepEqual(await one.drain(), [`-d ${WEB} -r 10.0.0.1:8080`]);
  });

  test('BALANCE-49 a wrong weight is repaired, and a Service without annotations has weight 1 again', async () => {
    const one = new OneService('TCP', weighted('10.0.0.1=0,10.0.0.2=3'));
    await one.endpoints('10.0.0.1', '10.0.0.2');
    one.kernel.put(WEB, '10.0.0.1', 1);
    one.kernel.put(WEB, '10.0.0.2', 0);
    assert.deepEqual(await one.read(), [`-e ${WEB} -r 10.0.0.1:8080 -m -w 0`, `-e ${WEB} -r 10.0.0.2:8080 -m -w 3`]);
    assert.deepEqual(await one.spec({}), [
      `-E ${WEB} -s rr`,
      `-e ${WEB} -r 10.0.0.1:8080 -m -w 1`,
      `-e ${WEB} -r 10.0.0.2:8080 -m -w 1`,
    ]);
  });
});

test('IPVS-20 after any events a wanted real server has weight 1, and any other has connections and weight 0', async () => {
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
