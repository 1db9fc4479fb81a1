import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { eventually, withClient } from '../../../test/support/api-client.ts';
import { type Handler, TestServer } from '../../../test/support/api-server.ts';
import { certificates } from '../../../test/support/certificates.ts';
import { base64 } from '../../../test/support/kubeconfig.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';

const ok: Handler = (_request, response) => void response.end('ok');

/** Who the client is by its certificate. */
const whoami: Handler = ({ socket }, response) => {
  const { subject } = (socket as TLSSocket).getPeerCertificate();
  response.end(String(subject?.CN ?? 'nobody'));
};

function refused(code: string, message: RegExp) {
  return (error: Error & { code?: string; address?: string }) => {
    assert.equal(error.name, 'ApiError');
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    assert.match(error.address ?? '', /:\d+$/);
    return true;
  };
}

test('CLIENT-4 a server whose certificate another CA has signed is refused, with the name of the CA that was expected', async () => {
  const { otherCa } = certificates();
  const data = { 'certificate-authority-data': base64(otherCa.cert) };
  const words =
    /^the certificate of the API server 127\.0\.0\.1:\d+ is not signed by the CA that the kubeconfig \S+ names \(certificate-authority-data\): check that it is this cluster's CA/;
  await withClient(ok, async ({ get }) => assert.rejects(get(), refused('tls', words)), { cluster: data });
});

test('CLIENT-4 without a CA those of the machine count', () =>
  withClient(
    ok,
    async ({ get, another, folder }) => {
      const words =
        /is not signed by a CA that this machine trusts, and the kubeconfig \S+ names none: name the cluster's CA/;
      await assert.rejects(get(), refused('tls', words));
      const bundle = folder.write('roots.pem', certificates().ca.cert);
      const client = another({ env: { SSL_CERT_FILE: bundle } });
      assert.equal((await client.request({ path: '/x', accept: 'a/b' })).status, 200);
    },
    { cluster: { 'certificate-authority-data': '' } },
  ));

test('CLIENT-4 an expired certificate is refused', async () => {
  const server = { certificate: certificates().expired };
  const words = /^the certificate of the API server \S+ has expired: renew it \(or set this machine's clock\)$/;
  await withClient(ok, async ({ get }) => assert.rejects(get(), refused('tls', words)), { server });
});

test('CLIENT-4 a certificate for another name is refused, and tls-server-name says which is meant', async () => {
  const server = { certificate: certificates().wrongName };
  const words =
    /^the certificate of the API server \S+ is for DNS:elsewhere\.test, not for 127\.0\.0\.1: check the address/;
  await withClient(ok, async ({ get }) => assert.rejects(get(), refused('tls', words)), { server });
  const cluster = { 'tls-server-name': 'elsewhere.test' };
  await withClient(ok, async ({ get }) => assert.equal(await get(), 'ok'), { server, cluster });
  const other = { 'tls-server-name': '127.0.0.1' };
  await withClient(ok, async ({ get }) => assert.equal(await get(), 'ok'), { cluster: other });
});

test('CLIENT-4 only insecure-skip-tls-verify accepts whatever comes', async () => {
  const cluster = { 'certificate-authority-data': '', 'insecure-skip-tls-verify': true };
  const server = { certificate: certificates().expired };
  await withClient(ok, async ({ get }) => assert.equal(await get(), 'ok'), { server, cluster });
});

test('CLIENT-4 a CA is trusted that another one has signed', async () => {
  const { intermediate, behindIntermediate } = certificates();
  const cluster = { 'certificate-authority-data': base64(intermediate.cert) };
  const server = { certificate: behindIntermediate };
  await withClient(ok, async ({ get }) => assert.equal(await get(), 'ok'), { server, cluster });
});

test('CLIENT-4 a CA file is read again for every connection', () => {
  const { ca, otherCa } = certificates();
  return withClient(
    ok,
    async ({ get, folder }) => {
      await assert.rejects(
        get(),
        refused('tls', /the CA that the kubeconfig \S+ names \(certificate-authority \S+ca\.crt\)/),
      );
      folder.write('ca.crt', ca.cert);
      assert.equal(await get(), 'ok');
    },
    {
      cluster: { 'certificate-authority-data': '', 'certificate-authority': 'ca.crt' },
      user: folder => {
        folder.write('ca.crt', otherCa.cert);
        return {};
      },
    },
  );
});

test('CLIENT-4 a CA that is none is told at the start', () =>
  withClient(ok, async ({ another, folder }) => {
    const kubeconfig = folder.kubeconfig({ server: 'https://x', 'certificate-authority-data': base64('CA') });
    assert.throws(() => another({ kubeconfig }), {
      code: 'configuration',
      message: 'unable to load root certificates: certificate-authority-data holds no PEM certificate',
    });
  }));

test('CLIENT-4 a server that does not speak TLS is told as such', async () => {
  const server = await TestServer.start(ok, { protocol: 'http' });
  const words = /^the API server \S+ does not speak TLS: check the address \(or write http:\/\/ if that is meant\)/;
  await withClient(ok, async ({ get }) => assert.rejects(get(), refused('tls', words)), { server });
});

test('CLIENT-5 a client certificate says who we are; a new one gets a new connection', () => {
  const { client, otherClient } = certificates();
  const clock = new ManualClock();
  return withClient(
    whoami,
    async ({ get, folder, server }) => {
      assert.equal(await get(), 'client');
      folder.write('me.crt', otherClient.cert);
      folder.write('me.key', otherClient.key);
      assert.equal(await get(), 'client');
      assert.equal(server.connections, 1);
      await clock.advance(60_000);
      assert.equal(await get(), 'other-client');
      assert.equal(server.connections, 2);
      await eventually(() => server.sockets.size === 1);
    },
    {
      server: { askCertificate: true },
      client: { clock, times: { readIdleMs: 0 } },
      user: folder => ({
        'client-certificate': folder.write('me.crt', client.cert),
        'client-key': folder.write('me.key', client.key),
      }),
    },
  );
});

test('CLIENT-10 after a 401 a new client certificate is used, on a connection of its own', () => {
  const { client, otherClient } = certificates();
  const onlyOther: Handler = ({ socket }, response) => {
    const name = String((socket as TLSSocket).getPeerCertificate().subject?.CN);
    response.statusCode = name === 'other-client' ? 200 : 401;
    response.end(name);
  };
  return withClient(
    onlyOther,
    async ({ get, folder, server }) => {
      assert.equal(await get(), 'client');
      folder.write('me.crt', otherClient.cert);
      folder.write('me.key', otherClient.key);
      assert.equal(await get(), 'other-client');
      assert.equal(server.connections, 2);
      await eventually(() => server.sockets.size === 1);
    },
    {
      server: { askCertificate: true },
      user: folder => ({
        'client-certificate': folder.write('me.crt', client.cert),
        'client-key': folder.write('me.key', client.key),
      }),
    },
  );
});

test('CLIENT-4 nobody listens, and no such name: told as such', async () => {
  const server = await TestServer.start(ok);
  const { port } = server;
  await server.close();
  await withClient(
    ok,
    async ({ get, folder, another }) => {
      await assert.rejects(
        get(),
        refused('unreachable', /^the API server \S+ refused the connection: check that it runs/),
      );
      const kubeconfig = folder.kubeconfig({ server: 'https://name.invalid:6443' });
      const lost = another({ kubeconfig }).request({ path: '/x', accept: 'a/b' });
      await assert.rejects(lost, refused('unreachable', /^the API server name\.invalid:6443 cannot be found: /));
    },
    { cluster: { server: `https://127.0.0.1:${port}` } },
  );
});

test('CLIENT-7 a connection that is not made in time is given up', async () => {
  const server = await TestServer.raw(socket => void socket.resume());
  await withClient(
    ok,
    async ({ get }) => {
      await assert.rejects(get(), refused('timeout', /^no connection to the API server \S+ within 0\.05 s$/));
      await eventually(() => server.sockets.size === 0);
    },
    { server, client: { times: { connectMs: 50 } } },
  );
});
