import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { loopbackOf, setLoopbackUp, withNamespace, withRoutes } from '../../../test/support/namespaces.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { connectTcp, listenTcp } from '../../kernel/sockets/index.ts';
import { Model } from '../../model/index.ts';
import type { Ip } from '../../net/index.ts';
import { type EndedEndpoint, endedEndpoints } from '../../plan/index.ts';
import { type OpenConnection, SocketEnder } from './socket-ender.ts';

/** No other test uses this address: the search looks at all network namespaces of the machine. */
const POD = '10.77.31.1' as Ip;

function goneEndpoint(): EndedEndpoint {
  const model = new Model({ family: 'IPv4', nodeName: '', startedAt: 0, report: () => {} });
  model.setService(service('web', { annotations: { 'pointsman.dev/endpoint-end': 'reset' } }));
  model.setEndpointSlice(slice('web-1', [POD]));
  model.take();
  model.deleteEndpointSlice('default/web-1');
  const [ended] = model.take().services.flatMap(change => endedEndpoints(change));
  return ended ?? assert.fail('no endpoint is gone');
}

test('ENDING-8 the proxy finds a socket in the network namespace of another process by its address', async () => {
  await withNamespace(async home => {
    await withNamespace(async pod => {
      setLoopbackUp(pod);
      withRoutes(pod, route => route.addAddress(loopbackOf(route), { ip: POD, prefix: 32 }));
      const process = pod.run(() => spawn('sleep', ['60']));
      await once(process, 'spawn');
      const accepted: Socket[] = [];
      const server = await listenTcp(pod, POD, 8080, socket => void accepted.push(socket.on('error', () => {})));
      const client = await connectTcp(pod, POD, 8080, { source: POD });
      const broken = once(client, 'error');
      try {
        const ends = {
          family: 'IPv4',
          local: { ip: POD, port: client.localPort ?? 0 },
          remote: { ip: POD, port: 8080 },
        } as const;
        const connection: OpenConnection = { endpoint: goneEndpoint(), flow: undefined, ends: [ends], isEnded: false };
        assert.equal(await new SocketEnder(home).end([connection]), undefined);
        assert.equal(connection.isEnded, true);
        assert.match(String(await broken), /ECONNABORTED/);
      } finally {
        process.kill();
        for (const socket of [client, ...accepted]) socket.destroy();
        server.close();
      }
    });
  });
});
