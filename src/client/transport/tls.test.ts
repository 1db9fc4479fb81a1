import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { bodyText, eventually, withClient } from '../../../test/support/api-client.ts';
import { type Handler, TestServer } from '../../../test/support/api-server.ts';
import { certificates } from '../../../test/support/certificates.ts';
import { base64 } from '../../../test/support/kubeconfig.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { systemClock } from '../../lib/clock.ts';
import { silentLog } from '../client-log.ts';
import { Transport } from './transport.ts';

const ok: Handler = (_request, response) => void response.end('ok');

/** Answers with the name in the client's certificate. */
const nameOfClient: Handler = ({ socket }, response) => {
  const { subject } = (socket as TLSSocket).getPeerCertificate();
  response.end(String(subject?.CN ?? 'nobody'));
};

function rejectedWith(code: string, message: RegExp) {
  return (error: Error & { code?: string; address?: string }) => {
    assert.equal(error.name, 'ApiError');
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    assert.match(error.address ?? '', /:\d+$/);
    return true;
  };
}

test('CLIENT-4 the error of a certificate that another CA signed names the expected CA', async () => {
  const { otherCa } = certificates();
  const data = { 'certificate-authority-data': base64(otherCa.cert) };
  const message =
    /^the certificate of the API server 127\.0\.0\.1:\d+ is not signed by the CA that the kubeconfig \S+ names \(certificate-authority-data\): check that it is this cluster's CA/;
  await withClient(ok, async ({ get }) => assert.rejects(get(), rejectedWith('tls', message)), { cluster: data });
});

test('CLIENT-4 without a CA the client trusts the CAs of the machine', () =>
  withClient(
    ok,
    async ({ get, another, folder }) => {
      const message =
        /is not signed by a CA that this machine trusts, and the kubeconfig \S+ names none: name the cluster's CA/;
      await assert.rejects(get(), rejectedWith('tls', message));
      const bundle = folder.write('roots.pem', certificates().ca.cert);
      const client = another({ env: { SSL_CERT_FILE: bundle } });
      assert.equal((await client.request({ path: '/x', accept: 'a/b' })).status, 200);
    },
    { cluster: { 'certificate-authority-data': '' } },
  ));

test('CLIENT-4 an expired certificate is an error', async () => {
  const server = { certificate: certificates().expired };
  const message = /^the certificate of the API server \S+ has expired: renew it \(or set this machine's clock\)$/;
  await withClient(ok, async ({ get }) => assert.rejects(get(), rejectedWith('tls', message)), { server });
});

test('CLIENT-4 a certificate for another name is an error, unless tls-server-name names it', async () => {
  const server = { certificate: certificates().wrongName };
  const message =
    /^the certificate of the API server \S+ is for DNS:elsewhere\.test, not for 127\.0\.0\.1: check the address/;
  await withClient(ok, async ({ get }) => assert.rejects(get(), rejectedWith('tls', message)), { server });
  const cluster = { 'tls-server-name': 'elsewhere.test' };
  await withClient(ok, async ({ get }) => assert.equal(await get(), 'ok'), { server, cluster });
  const other = { 'tls-server-name': '127.0.0.1' };
  await withClient(ok, async ({ get }) => assert.equal(await get(), 'ok'), { cluster: other });
});

test('CLIENT-4 insecure-skip-tls-verify accepts any certificate', async () => {
  const cluster = { 'certificate-authority-data': '', 'insecure-skip-tls-verify': true };
  const server = { certificate: certificates().expired };
  await withClient(ok, async ({ get }) => assert.equal(await get(), 'ok'), { server, cluster });
});

test('CLIENT-4 the client trusts a CA that another CA has signed', async () => {
  const { intermediate, behindIntermediate } = certificates();
  const cluster = { 'certificate-authority-data': base64(intermediate.cert) };
  const server = { certificate: behindIntermediate };
  await withClient(ok, async ({ get }) => assert.equal(await get(), 'ok'), { server, cluster });
});

test('CLIENT-4 the client reads a CA file again for every connection', () => {
  const { ca, otherCa } = certificates();
  return withClient(
    ok,
    async ({ get, folder }) => {
      await assert.rejects(
        get(),
        rejectedWith('tls', /the CA that the kubeconfig \S+ names \(certificate-authority \S+ca\.crt\)/),
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

test('CLIENT-4 a CA that is not a certificate is an error at the start', () =>
  withClient(ok, async ({ another, folder }) => {
    const kubeconfig = folder.kubeconfig({ server: 'https://x', 'certificate-authority-data': base64('CA') });
    assert.throws(() => another({ kubeconfig }), {
      code: 'configuration',
      message: 'unable to load root certificates: certificate-authority-data contains no PEM certificate',
    });
  }));

test('CLIENT-4 the error of a server without TLS says so', async () => {
  const server = await TestServer.start(ok, { protocol: 'http' });
  const message =
    /^the API server \S+ does not speak TLS: check the address, or write http:\/\/ if the server has no TLS/;
  await withClient(ok, async ({ get }) => assert.rejects(get(), rejectedWith('tls', message)), { server });
});

test('CLIENT-5 the client sends its certificate, and opens a new connection for a new certificate', () => {
  const { client, otherClient } = certificates();
  const clock = new ManualClock();
  return withClient(
    nameOfClient,
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
      client: { clock, timeouts: { readIdleMs: 0 } },
      user: folder => ({
        'client-certificate': folder.write('me.crt', client.cert),
        'client-key': folder.write('me.key', client.key),
      }),
    },
  );
});

test('CLIENT-5 requests with different certificates never share a connection, even while one opens', () => {
  const { ca, client, otherClient } = certificates();
  return withClient(
    nameOfClient,
    async ({ server }) => {
      const transport = new Transport({
        config: {
          server: new URL(server.url()),
          origin: 'a test',
          tls: { ca: { kind: 'data', pem: ca.cert, field: 'ca' }, insecure: false },
          disableCompression: false,
          user: {},
        },
        env: {},
        timeouts: { connectMs: 10_000, handshakeMs: 10_000, readIdleMs: 0, pingMs: 1000 },
        clock: systemClock,
        log: silentLog,
      });
      const nameWith = async ({ cert, key }: typeof client) =>
        bodyText(await transport.send({ method: 'GET', path: '/x', headers: {} }, { certificate: cert, key }));
      assert.deepEqual(await Promise.all([nameWith(client), nameWith(otherClient)]), ['client', 'other-client']);
      transport.close();
    },
    { server: { askCertificate: true } },
  );
});

test('CLIENT-10 after a 401 the client uses a new certificate on a new connection', () => {
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

test('CLIENT-4 the error says if no server listens or if its name is unknown', async () => {
  const server = await TestServer.start(ok);
  const { port } = server;
  await server.close();
  await withClient(
    ok,
    async ({ get, folder, another }) => {
      await assert.rejects(
        get(),
        rejectedWith('unreachable', /^the API server \S+ refused the connection: check that it runs/),
      );
      const kubeconfig = folder.kubeconfig({ server: 'https://name.invalid:6443' });
      const lost = another({ kubeconfig }).request({ path: '/x', accept: 'a/b' });
      await assert.rejects(lost, rejectedWith('unreachable', /^the API server name\.invalid:6443 cannot be found: /));
    },
    { cluster: { server: `https://127.0.0.1:${port}` } },
  );
});

test('CLIENT-7 a connection that takes too long is a timeout', async () => {
  const server = await TestServer.raw(socket => void socket.resume());
  await withClient(
    ok,
    async ({ get }) => {
      await assert.rejects(get(), rejectedWith('timeout', /^no connection to the API server \S+ within 0\.05 s$/));
      await eventually(() => server.sockets.size === 0);
    },
    { server, client: { timeouts: { connectMs: 50 } } },
  );
});

test('CLIENT-7 a TLS handshake that takes too long is a timeout, before the time to connect is over', async () => {
  const server = await TestServer.raw(socket => void socket.resume());
  await withClient(
    ok,
    async ({ get }) => {
      await assert.rejects(get(), rejectedWith('timeout', /^no TLS handshake with the API server \S+ within 0\.05 s$/));
      await eventually(() => server.sockets.size === 0);
    },
    { server, client: { timeouts: { connectMs: 60_000, handshakeMs: 50 } } },
  );
});
