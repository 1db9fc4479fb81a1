import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Flow, type FlowState, L4 } from '../kernel/conntrack/index.ts';
import type { Ip } from '../net/index.ts';
import { endpointKey, OpenConnections } from './open-connections.ts';

const KEY = endpointKey('TCP', '10.244.1.1:8080');

function flow(id: number, state: FlowState | undefined = 'ESTABLISHED', protocol: number = L4.TCP): Flow {
  return {
    family: 'IPv4',
    protocol,
    original: { src: '10.0.0.1' as Ip, dst: '10.96.0.1' as Ip, srcPort: 1000, dstPort: 80 },
    reply: { src: '10.244.1.1' as Ip, dst: '10.0.0.1' as Ip, srcPort: 8080, dstPort: 1000 },
    id,
    state,
  };
}

function look(connections: OpenConnections, flows: Iterable<Flow>, key = KEY) {
  connections.begin([key]);
  for (const found of flows) connections.add(found);
  return connections.of(key);
}

test('BALANCE-63 counts open TCP connections and not those that end', () => {
  const open: readonly FlowState[] = ['SYN_SENT', 'SYN_RECV', 'ESTABLISHED'];
  const ended: readonly FlowState[] = ['FIN_WAIT', 'CLOSE_WAIT', 'LAST_ACK', 'TIME_WAIT', 'CLOSE'];
  const flows = [...open, ...ended].map((state, id) => flow(id, state));
  assert.equal(look(new OpenConnections(), flows).connections, open.length);
});

test('BALANCE-63 counts flows of UDP, and only endpoints of the same protocol', () => {
  const flows = [flow(1, undefined, L4.UDP), flow(2)];
  assert.equal(look(new OpenConnections(), flows, endpointKey('UDP', '10.244.1.1:8080')).connections, 1);
  assert.equal(look(new OpenConnections(), flows, endpointKey('TCP', '10.244.1.2:8080')).connections, 0);
});

test('BALANCE-63 arrivals are connections that the look before did not find', () => {
  const connections = new OpenConnections();
  assert.deepEqual(look(connections, [flow(1), flow(2)]), { connections: 2, arrivals: 0 });
  assert.deepEqual(look(connections, [flow(2), flow(3), flow(4)]), { connections: 3, arrivals: 2 });
  assert.deepEqual(look(connections, []), { connections: 0, arrivals: 0 });
  assert.deepEqual(look(connections, [flow(2)]), { connections: 1, arrivals: 1 });
});

test('BALANCE-63 of very many connections a sample counts for all', () => {
  const connections = new OpenConnections();
  const flows = function* (from: number, to: number) {
    // The kernel's identities are spread over all numbers of 32 bits.
    for (let id = from; id < to; id++) yield flow(Math.imul(id, 0x9e3779b1) >>> 0);
  };
  look(connections, flows(0, 100_000));
  const { connections: open, arrivals } = look(connections, flows(50_000, 150_000));
  assert.equal(open, 100_000);
  assert.ok(Math.abs(arrivals - 50_000) < 2500, `${arrivals}`);
});
