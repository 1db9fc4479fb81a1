import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { eventually, withClient } from '../../../test/support/api-client.ts';
import { TestServer } from '../../../test/support/api-server.ts';

test('CLIENT-4 the client offers TLS 1.3 and 1.2, and nothing older', async () => {
  let hello = '';
  const server = await TestServer.raw(socket => {
    socket.once('data', data => {
      hello = data.toString('hex');
      socket.destroy();
    });
  });
  await withClient(
    () => {},
    async ({ get }) => {
      await assert.rejects(get());
      // The extension supported_versions, its length, and a list of versions with its length.
      assert.match(hello, /002b00050403040303/);
    },
    { server },
  );
});

test('CLIENT-7 the kernel probes a server that is silent', () =>
  withClient(
    (_request, response) => void response.end('ok'),
    async ({ get, server }) => {
      await get();
      // Until the server has acknowledged the last packet, another timer runs.
      await eventually(() => timersOfConnectionsTo(server.port).join() === KEEP_ALIVE);
    },
  ));

const KEEP_ALIVE = '02';
const ESTABLISHED = '01';

/** The kind of the timer that runs for each connection from this machine to the port. See proc(5), /proc/net/tcp. */
function timersOfConnectionsTo(port: number): readonly (string | undefined)[] {
  const remote = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  const fields = rows.map(row => row.trim().split(/\s+/));
  return fields
    .filter(([, , to, state]) => to === remote && state === ESTABLISHED)
    .map(row => row[5]?.slice(0, KEEP_ALIVE.length));
}
