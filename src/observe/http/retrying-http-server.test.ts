import assert from 'node:assert/strict';
import type { Server } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import { httpCall } from '../../../test/support/http-call.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import type { Ip } from '../../net/index.ts';
import { type HttpHandler, HttpServer, type Listen, listenHere, RetryingHttpServer, textAnswer } from './index.ts';

const LOOPBACK = '127.0.0.1' as Ip;
const ANY = '0.0.0.0' as Ip;
const ANY6 = '::' as Ip;

describe('HTTP servers that retry', () => {
  const open: { close(): void }[] = [];
  const keep = <T extends { close(): void }>(server: T): T => {
    open.push(server);
    return server;
  };
  const serve = async (handle: HttpHandler) => keep(await HttpServer.open({ ip: LOOPBACK, port: 0, handle }));

  afterEach(() => {
    for (const server of open.splice(0)) server.close();
  });

  for (const ip of [ANY, ANY6]) {
    test(`HEALTH-10 a retrying server on ${ip} answers on both families`, async () => {
      const server = retrying({ ip });
      await server.start();
      const port = server.port ?? 0;
      assert.equal((await httpCall({ port, host: '127.0.0.1' })).body, 'ok');
      assert.equal((await httpCall({ port, host: '::1' })).body, 'ok');
    });
  }

  for (const code of ['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EINVAL', 'EPROTONOSUPPORT']) {
    test(`HEALTH-10 on a machine without IPv6 (${code}) a wildcard means IPv4`, async () => {
      const tried: string[] = [];
      const listen: Listen = (address, onConnection) => {
        tried.push(address.ip);
        if (address.ip !== ANY6) return listenHere(address, onConnection);
        throw Object.assign(new Error(`listen ${code}`), { code });
      };
      const server = retrying({ ip: ANY6, listen });
      await server.start();
      assert.deepEqual(tried, ['::', '0.0.0.0']);
      assert.equal((await httpCall({ port: server.port ?? 0 })).body, 'ok');
    });
  }

  test('HEALTH-11 a server whose address is in use retries every 5 s and reports each failure', async () => {
    const clock = new ManualClock();
    const holder = await serve(() => textAnswer(200, 'holder'));
    const { port } = holder;
    const errors: string[] = [];
    const server = retrying({ ip: LOOPBACK, port, clock, onError: error => errors.push(error.message) });
    await server.start();
    await clock.advance(4999);
    assert.equal(errors.length, 1);
    assert.equal(errors[0], `listen tcp 127.0.0.1:${port}: bind: address already in use`);
    await clock.advance(1);
    await settle(() => errors.length === 2);
    holder.close();
    await clock.advance(5000);
    await settle(() => server.port !== undefined);
    assert.equal((await httpCall({ port })).body, 'ok');
    assert.equal(clock.pending, 0);
  });

  test('HEALTH-11 the error for a wildcard that is in use names the configured address', async () => {
    const holder = keep(await HttpServer.open({ ip: ANY6, port: 0, handle: () => textAnswer(200, 'holder') }));
    const errors: string[] = [];
    const taken = { ip: ANY, port: holder.port, hardFail: true };
    await retrying({ ...taken, onError: error => errors.push(error.message) }).start();
    assert.deepEqual(errors, [`listen tcp 0.0.0.0:${holder.port}: bind: address already in use`]);
  });

  test('HEALTH-11 a listener that breaks is reported and opened again', async () => {
    const clock = new ManualClock();
    const { listeners, listen } = recordingListen();
    const errors: string[] = [];
    const server = retrying({ ip: LOOPBACK, clock, listen, onError: error => errors.push(error.message) });
    await server.start();
    listeners[0]?.emit('error', new Error('accept EMFILE'));
    assert.deepEqual([errors, server.port], [['accept EMFILE'], undefined]);
    await clock.advance(5000);
    await settle(() => server.port !== undefined);
    assert.equal((await httpCall({ port: server.port ?? 0 })).body, 'ok');
  });

  test('HEALTH-11 a server that is closed while it opens stays closed', async () => {
    const { listeners, listen } = recordingListen();
    const server = retrying({ ip: LOOPBACK, listen });
    const started = server.start();
    server.close();
    await started;
    assert.deepEqual(
      listeners.map(({ listening }) => listening),
      [false],
    );
  });

  test('HEALTH-11 a server that is closed while it fails to open reports nothing and does not retry', async () => {
    const clock = new ManualClock();
    const errors: Error[] = [];
    const listen: Listen = () => new Promise((_, reject) => setImmediate(() => reject(new Error('no luck'))));
    const server = retrying({ ip: LOOPBACK, clock, listen, onError: error => errors.push(error) });
    const started = server.start();
    server.close();
    await started;
    assert.deepEqual([errors, clock.pending], [[], 0]);
  });

  test('HEALTH-11 with hardFail a server does not retry', async () => {
    const clock = new ManualClock();
    const { port } = await serve(() => textAnswer(200, 'holder'));
    const errors: Error[] = [];
    const server = retrying({ ip: LOOPBACK, port, clock, hardFail: true, onError: error => errors.push(error) });
    await server.start();
    assert.equal(errors.length, 1);
    assert.equal(clock.pending, 0);
  });

  test('HEALTH-11 a server that is closed while it waits for a retry stays closed', async () => {
    const clock = new ManualClock();
    const { port } = await serve(() => textAnswer(200, 'holder'));
    const server = retrying({ ip: LOOPBACK, port, clock });
    await server.start();
    assert.equal(clock.pending, 1);
    server.close();
    assert.equal(clock.pending, 0);
  });

  function retrying(
    options: Partial<ConstructorParameters<typeof RetryingHttpServer>[0]> & { ip: Ip },
  ): RetryingHttpServer {
    const handle = () => textAnswer(200, 'ok');
    return keep(new RetryingHttpServer({ port: 0, handle, hardFail: false, onError: () => {}, ...options }));
  }
});

/** Listens, and keeps the listeners for the test. */
function recordingListen(): { listeners: Server[]; listen: Listen } {
  const listeners: Server[] = [];
  const listen: Listen = async (address, onConnection) => {
    const listener = await listenHere(address, onConnection);
    listeners.push(listener);
    return listener;
  };
  return { listeners, listen };
}

async function settle(done: () => boolean): Promise<void> {
  for (let turn = 0; turn < 100 && !done(); turn++) await new Promise(resolve => setImmediate(resolve));
  assert.ok(done());
}
