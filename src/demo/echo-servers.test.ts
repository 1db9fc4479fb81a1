import assert from 'node:assert/strict';
import { test } from 'node:test';
import { demoState } from '../../test/support/demo-rows.ts';
import { service, slice } from '../../test/support/objects.ts';
import { EchoServers } from './echo-servers.ts';

test('DEMO-3 an endpoint at which no echo server can run is a problem until it is gone', async () => {
  const servers = new EchoServers({
    ensure: ({ ip }) => {
      throw new RangeError(`no place for ${ip}`);
    },
  });
  await servers.serve(demoState([service('web'), slice('web-1', ['10.244.1.11'])]));
  assert.deepEqual(servers.problems, ['no echo server can run at 10.244.1.11 TCP port 8080: no place for 10.244.1.11']);
  await servers.serve(demoState([service('web')]));
  assert.deepEqual(servers.problems, []);
});
