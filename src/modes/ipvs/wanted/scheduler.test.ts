import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type PlannedOptions, planned } from '../../../../test/support/ipvs-plan.ts';
import { liveShares } from '../../../../test/support/live-shares.ts';
import { service, slice } from '../../../../test/support/objects.ts';
import { planOf } from '../../../../test/support/plans.ts';
import { ALGORITHMS } from '../../../model/index.ts';
import { schedulerOf } from './scheduler.ts';

const IPS = ['10.244.1.1', '10.244.1.2', '10.244.1.3'];

/** The scheduler of a Service with three endpoints, its flags, and the weights of its real servers. */
function balanced(annotations: Record<string, string>, options?: PlannedOptions): string {
  const names = Object.fromEntries(Object.entries(annotations).map(([name, text]) => [`pointsman.dev/${name}`, text]));
  const { servers } = planned([service('web', { annotations: names }), slice('web-1', IPS)], options);
  const [head = '', ...real] = servers;
  return `${/-s (.*)/.exec(head)?.[1]}: ${real.map(line => /-w (\d+)/.exec(line)?.[1])}`;
}

describe('schedulers', () => {
  test('BALANCE-45 each algorithm has its scheduler; random has none, so the configured one is used', () => {
    const found = ALGORITHMS.map(balance => balanced({ balance }, { scheduler: 'sed' }));
    assert.deepEqual(found, ['sed: 1,1,1', 'rr: 1,1,1', 'lc: 1,1,1', 'mh: 1,1,1', 'wrr: 1,1,1']);
  });

  test('BALANCE-45 a consistent hash has the port of the client only if the Service asks for that', () => {
    const balance = 'consistent-hash';
    assert.equal(balanced({ balance, 'hash-by': 'client-address' }), 'mh: 1,1,1');
    assert.equal(balanced({ balance, 'hash-by': 'client-address-and-port' }), 'mh -b mh-port: 1,1,1');
    assert.equal(balanced({ balance }, { scheduler: 'mh' }), 'mh: 1,1,1');
    assert.equal(balanced({ balance: 'random' }, { scheduler: 'mh' }), 'mh -b mh-port: 1,1,1');
  });

  test('BALANCE-46 the annotation that names a scheduler wins, and the weights stay', () => {
    const weights = '10.244.1.1=5';
    assert.equal(balanced({ scheduler: 'sh', balance: 'least-connections' }), 'sh: 1,1,1');
    assert.equal(balanced({ scheduler: 'wlc', balance: 'weighted', weights }), 'wlc: 5,1,1');
    assert.equal(balanced({ scheduler: 'mh', balance: 'consistent-hash' }), 'mh -b mh-port: 1,1,1');
  });

  test('BALANCE-46 if the kernel lacks the scheduler of an algorithm, the configured one is used', () => {
    const context = { scheduler: 'rr', missingSchedulers: new Set(['mh', 'wrr']) };
    const plan = planOf('web', IPS);
    const port = { ...plan.port, scheduler: '' };
    const rest = { hashBy: 'client-address', weights: undefined, isInSlowStart: false } as const;
    const balance = { unavailable: undefined, ...rest, slots: plan.endpoints };
    const of = (algorithm: (typeof ALGORITHMS)[number], isWeighted: boolean) =>
      schedulerOf(context, { ...plan, port, balance: { ...balance, algorithm } }, isWeighted);
    assert.deepEqual([of('consistent-hash', false), of('weighted', true), of('round-robin', true)], ['rr', 'rr', 'rr']);
    assert.deepEqual([of('least-connections', false), of('least-connections', true)], ['lc', 'wlc']);
  });
});

describe('weights', () => {
  test('BALANCE-47 real servers have the weights of their endpoints, and 0 is one of them', () => {
    const weights = '10.244.1.1=0,10.244.1.3=7';
    assert.equal(balanced({ balance: 'weighted', weights }), 'wrr: 0,1,7');
    assert.equal(balanced({ balance: 'weighted', weights: IPS.map(ip => `${ip}=0`).join() }), 'wrr: 1,1,1');
    assert.equal(balanced({ balance: 'weighted', weights: IPS.map(ip => `${ip}=4`).join() }), 'wrr: 1,1,1');
    assert.equal(balanced({ balance: 'round-robin', weights }), 'rr: 1,1,1', 'only `weighted` has these weights');
  });

  test('BALANCE-47 all real servers of a virtual server with weight 0 weigh the same', () => {
    const annotations = { 'pointsman.dev/balance': 'weighted', 'pointsman.dev/weights': '10.244.1.1=0' };
    const spec = { type: 'NodePort', externalTrafficPolicy: 'Local', ports: [{ nodePort: 30080 }] };
    const endpoints = [{ ip: '10.244.1.1', nodeName: 'node-a' }, '10.244.1.2'];
    const { servers } = planned([service('web', { ...spec, annotations }), slice('web-1', endpoints)]);
    assert.deepEqual(servers, [
      '-A -t 10.96.0.1:80 -s wrr',
      '-a -t 10.96.0.1:80 -r 10.244.1.1:8080 -m -w 0',
      '-a -t 10.96.0.1:80 -r 10.244.1.2:8080 -m -w 1',
      '-A -t 192.168.0.2:30080 -s wrr',
      '-a -t 192.168.0.2:30080 -r 10.244.1.1:8080 -m -w 1',
    ]);
  });

  test('BALANCE-48 shares of a moment are weights in hundredths, with the scheduler that takes weights', () => {
    const live = liveShares({ '10.244.1.2': 0.25, '10.244.1.3': 0.001 });
    assert.equal(balanced({}, { live }), 'wrr: 100,25,1');
    assert.equal(balanced({ balance: 'least-connections' }, { live }), 'wlc: 100,25,1');
    assert.equal(balanced({ balance: 'consistent-hash' }, { live }), 'mh: 100,25,1');
    assert.equal(balanced({ balance: 'weighted', weights: '10.244.1.2=2' }, { live }), 'wrr: 100,50,1');
    assert.equal(balanced({}, { live, scheduler: 'sed' }), 'sed: 100,25,1');
    assert.equal(balanced({}, { live: liveShares({}) }), 'rr: 1,1,1');
    assert.equal(balanced({ balance: 'round-robin' }, { live: liveShares({ '10.244.1.2': 0 }) }), 'wrr: 1,0,1');
  });
});
