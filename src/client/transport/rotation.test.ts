import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, withClient } from '../../../test/support/api-client.ts';
import type { AnyResponse, Handler } from '../../../test/support/api-server.ts';
import { certificates } from '../../../test/support/certificates.ts';

test('CLIENT-4 a watch goes on while the server gets a certificate of another CA, and new connections use the new CA', () => {
  const { ca, intermediate, behindIntermediate } = certificates();
  const watches: AnyResponse[] = [];
  const handler: Handler = (request, response) => {
    if (!request.url?.includes('watch')) return void response.end('ok');
    watches.push(response);
    response.write('one');
  };
  return withClient(
    handler,
    async ({ client, get, folder, server }) => {
      const { body } = await client.request({ path: '/x?watch=true', accept: 'a/b' });
      const reader = body[Symbol.asyncIterator]();
      await reader.next();
      server.rotate(behindIntermediate);
      folder.write('ca.crt', intermediate.cert);
      assert.equal(await get(), 'ok');
      watches[0]?.write('two');
      assert.equal(String((await reader.next()).value), 'two');
      assert.equal(server.connections, 1);
      for (const session of server.sessions) session.close();
      await eventually(() => server.sessions[0]?.closed === true);
      assert.equal(await get(), 'ok');
      assert.equal(server.connections, 2);
      watches[0]?.write('three');
      assert.equal(String((await reader.next()).value), 'three');
    },
    {
      cluster: { 'certificate-authority-data': '', 'certificate-authority': 'ca.crt' },
      user: folder => {
        folder.write('ca.crt', ca.cert);
        return {};
      },
    },
  );
});
