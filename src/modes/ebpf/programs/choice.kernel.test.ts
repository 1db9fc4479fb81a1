import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ENDPOINTS, withSocketLab } from '../../../../test/support/socket-lab.ts';
import { type Ip, joinHostPort } from '../../../net/index.ts';
import { TargetFlag } from './index.ts';

const SERVICES = { IPv4: '10.96.0.10' as Ip, IPv6: 'fd00:96::10' as Ip } as const;

/** χ² of the numbers, if all are equally likely. */
function chiSquare(numbers: readonly number[]): number {
  const mean = numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
  return numbers.reduce((sum, number) => sum + (number - mean) ** 2 / mean, 0);
}

describe('EBPF-20 choice', () => {
  for (const family of ['IPv4', 'IPv6'] as const) {
    test(`EBPF-20 each slot is chosen equally often (${family})`, () =>
      withSocketLab(({ sockets, pod }) => {
        sockets.addPool(ENDPOINTS[family].slice(0, 2));
        sockets.setTarget(SERVICES[family], 80, { pool: sockets.addPool(ENDPOINTS[family]) });
        const numbers = new Map(ENDPOINTS[family].map(({ ip, port }) => [joinHostPort(ip, port), 0]));
        for (let i = 0; i < 400; i++) {
          const name = pod.ask(SERVICES[family], 80);
          numbers.set(name, (numbers.get(name) ?? 0) + 1);
        }
        assert.equal(numbers.size, ENDPOINTS[family].length, [...numbers.keys()].join());
        // With three degrees of freedom, one of a billion runs exceeds this.
        assert.ok(chiSquare([...numbers.values()]) < 45, [...numbers.values()].join());
      }));
  }
});

describe('EBPF-21 counting connections', () => {
  test('EBPF-21 each translated connection counts once at its frontend', () =>
    withSocketLab(({ sockets, pod }) => {
      const [OTHER, REFUSING, OUTSIDE] = ['10.96.0.11' as Ip, '10.96.0.12' as Ip, '10.96.0.13' as Ip];
      const pool = sockets.addPool(ENDPOINTS.IPv4);
      sockets.setTarget(SERVICES.IPv4, 80, { pool, counter: 1 });
      sockets.setTarget(SERVICES.IPv6, 80, { pool: sockets.addPool(ENDPOINTS.IPv6), counter: 2 });
      sockets.setTarget(OTHER, 80, { pool, counter: 3 });
      sockets.setTarget(REFUSING, 80, { flags: TargetFlag.refuse, counter: 4 });
      sockets.setTarget(OUTSIDE, 80, { pool, counter: 1_000_000 });
      for (let i = 0; i < 5; i++) pod.ask(SERVICES.IPv4, 80);
      pod.ask(SERVICES.IPv4, 80, 'IPv6');
      for (let i = 0; i < 3; i++) pod.ask(SERVICES.IPv6, 80);
      pod.ask(OTHER, 80);
      assert.equal(pod.ask(REFUSING, 80), 'ECONNREFUSED');
      assert.match(pod.ask(OUTSIDE, 80), /^10\.244\.1\./, 'the counter does not exist');
      assert.deepEqual(
        [0, 1, 2, 3, 4].map(counter => sockets.countOf(counter)),
        [0, 6, 3, 1, 0],
      );
    }));
});
