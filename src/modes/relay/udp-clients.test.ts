import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { type UdpClient, UdpClients } from './udp-clients.ts';

function start() {
  const clock = new ManualClock();
  const clients = new UdpClients({ poll: { defer: work => work() }, clock, udpIdleTimeoutMs: 250 });
  const ended: string[] = [];
  const client = (name: string) => {
    const made: UdpClient = {
      lastUsed: 0,
      end() {
        ended.push(name);
        clients.delete(made);
      },
    };
    return made;
  };
  return { clock, clients, ended, client };
}

test('USER-15 the client that was silent for longest gives way, whatever its Service is', () => {
  const { clients, ended, client } = start();
  const [a, b, c] = ['a', 'b', 'c'].map(client);
  for (const each of [a, b, c, a]) if (each) clients.use(each);
  clients.endOldest();
  clients.endOldest();
  assert.deepEqual(ended, ['b', 'c']);
  assert.equal(clients.size, 1);
  clients.close();
});

test('USER-15 each client ends after the idle timeout, and then no timer waits', async () => {
  const { clock, clients, ended, client } = start();
  const [a, b] = [client('a'), client('b')];
  clients.use(a);
  await clock.advance(100);
  clients.use(b);
  await clock.advance(100);
  clients.use(a);
  await clock.advance(149);
  assert.deepEqual(ended, []);
  await clock.advance(1);
  assert.deepEqual(ended, ['b']);
  await clock.advance(100);
  assert.deepEqual(ended, ['b', 'a']);
  assert.equal(clock.pending, 0);
});

test('USER-15 after a close no timer waits', () => {
  const { clock, clients, client } = start();
  clients.use(client('a'));
  clients.close();
  assert.equal(clock.pending, 0);
});
