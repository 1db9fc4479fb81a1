import assert from 'node:assert/strict';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Counter } from '../../bench/load/counter.ts';
import type { Attempt } from '../../bench/load/crowd.ts';
import {
  EMPTY_TALLY,
  type Exchange,
  encodingOf,
  kindOf,
  resourceOf,
  transfersSince,
} from '../../bench/load/exchange.ts';
import { fullestTenth, peakPerSecond, waitsAfter, waviness } from '../../bench/load/spread.ts';
import { ConnectWaits } from '../../src/client/informer/index.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { certificates } from '../support/certificates.ts';
import { randomNumbers } from '../support/random-numbers.ts';

function exchange(fields: Partial<Exchange> = {}): Exchange {
  return {
    method: 'GET',
    path: '/api/v1/services',
    userAgent: '',
    status: 200,
    contentType: 'application/vnd.kubernetes.protobuf',
    contentEncoding: '',
    requestBytes: 0,
    responseBytes: 0,
    ...fields,
  };
}

/** Runs the work with a counter in front of a server that answers with these bytes. */
async function withCounter(
  answer: Buffer,
  headers: Readonly<Record<string, string>>,
  work: (get: (path: string) => Promise<Buffer>, counter: Counter) => Promise<void>,
): Promise<void> {
  const { ca, server: own } = certificates();
  const server = http2.createSecureServer(own, (_request, response) => {
    response.writeHead(200, headers);
    response.end(answer);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const target = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const counter = new Counter();
  const port = await counter.listen({ server: target, port: 0, ...own });
  const client = http2.connect(`https://127.0.0.1:${port}`, { ca: ca.cert });
  const get = async (path: string) => {
    const chunks: Buffer[] = [];
    for await (const chunk of client.request({ ':path': path })) chunks.push(chunk);
    return Buffer.concat(chunks);
  };
  try {
    await work(get, counter);
  } finally {
    client.destroy();
    counter.close();
    server.close();
  }
}

describe('the counter in front of an API server', () => {
  test('LOAD-1 the client gets the answer as the server sent it, and the counter has its bytes and type', async () => {
    const body = gzipSync(Buffer.alloc(100_000, 'abc'));
    const headers = { 'content-type': 'application/vnd.kubernetes.protobuf', 'content-encoding': 'gzip' };
    await withCounter(body, headers, async (get, counter) => {
      assert.deepEqual(await get('/api/v1/services?limit=500'), body);
      const { exchanges, connections, wireBytes } = counter.tally();
      assert.equal(connections, 1);
      assert.ok(wireBytes > body.length, `${wireBytes} bytes`);
      const [seen] = exchanges;
      assert.deepEqual(
        [seen?.path, seen?.status, seen?.contentEncoding, seen?.responseBytes],
        ['/api/v1/services?limit=500', 200, 'gzip', body.length],
      );
    });
  });

  test('LOAD-1 requests are counted by resource and by kind', () => {
    assert.deepEqual(
      [
        '/api/v1/nodes?watch=true',
        '/apis/discovery.k8s.io/v1/endpointslices',
        '/apis/events.k8s.io/v1/namespaces/default/events',
        '/api/v1/namespaces/default/services/a',
        '/api/v1/namespaces/default',
      ].map(resourceOf),
      ['nodes', 'endpointslices', 'events', 'services', 'namespaces'],
    );
    assert.deepEqual(
      [
        exchange({ path: '/x?watch=true&sendInitialEvents=true' }),
        exchange({ path: '/x?watch=1' }),
        exchange({ path: '/x?limit=500' }),
        exchange({ method: 'POST' }),
      ].map(kindOf),
      ['streaming list', 'watch', 'list', 'post'],
    );
  });

  test('LOAD-1 the way of a start is that of the largest answer', () => {
    const small = exchange({ responseBytes: 10, contentType: 'application/json' });
    const large = exchange({ responseBytes: 99, contentEncoding: 'gzip' });
    assert.equal(encodingOf({ exchanges: [small, large] }), 'list, protobuf, gzip');
    assert.equal(encodingOf({ exchanges: [small] }), 'list, JSON');
  });

  test('LOAD-2 only what came after the beginning of a part counts', () => {
    const before = { ...EMPTY_TALLY, exchanges: [exchange({ responseBytes: 100 })] };
    const posted = exchange({
      method: 'POST',
      path: '/apis/events.k8s.io/v1/events',
      requestBytes: 5,
      responseBytes: 7,
    });
    const now = { ...EMPTY_TALLY, exchanges: [exchange({ responseBytes: 140 }), posted] };
    assert.deepEqual(transfersSince(now, before), [
      { resource: 'events', requests: 1, bytes: 12 },
      { resource: 'services', requests: 0, bytes: 40 },
    ]);
    assert.deepEqual(transfersSince(now, now), []);
  });
});

/** When a proxy tries to connect, if nothing listens at the API server's address. */
function attemptsUntil(endMs: number, random: () => number): readonly number[] {
  let now = 0;
  const clock = { ...systemClock, elapsed: () => now };
  const waits = new ConnectWaits({ clock, random });
  const times: number[] = [];
  while (now < endMs) {
    times.push(now);
    now += waits.fail('refused');
  }
  return times;
}

describe('storms', () => {
  const attempt = (sender: string, sentAt: number, status: number): Attempt => ({
    sender,
    sentAt,
    endedAt: sentAt + 10,
    status,
  });

  test('LOAD-3 the fullest second may begin at any moment', () => {
    assert.equal(peakPerSecond([0, 900, 1100, 1200, 1899, 5000]), 4);
    assert.equal(peakPerSecond([]), 0);
  });

  test('LOAD-3 even requests have a waviness of 1, and requests at the same moment a great one', () => {
    const even = Array.from({ length: 100 }, (_, i) => i * 10);
    assert.equal(waviness(even, 0, 1000), 1);
    assert.equal(
      waviness(
        even.map(() => 555),
        0,
        1000,
      ),
      10,
    );
    assert.ok(Number.isNaN(waviness([], 0, 1000)));
  });

  test('LOAD-3 1,000 proxies that find no API server at the same moment are spread evenly after four seconds', () => {
    const random = randomNumbers(19);
    const attempts = Array.from({ length: 1000 }, () => attemptsUntil(20_000, random)).flat();
    assert.ok(waviness(attempts, 0, 500) > 4, 'they begin together');
    assert.ok(waviness(attempts, 4000, 20_000) < 1.5, String(waviness(attempts, 4000, 20_000)));
  });

  test('LOAD-4 a wait is from the refusal of a request to the next one for the same resource', () => {
    const attempts = [
      attempt('1 services', 0, 429),
      attempt('2 services', 0, 200),
      attempt('1 nodes', 500, 200),
      attempt('1 services', 1510, 429),
      attempt('1 services', 4020, 200),
      attempt('1 services', 9000, 200),
    ];
    assert.deepEqual(
      waitsAfter(attempts, status => status === 429),
      [1500, 2500],
    );
  });

  test('LOAD-4 waits without a random part end in the same tenth of a second', () => {
    assert.equal(fullestTenth([1000, 1000, 1001, 1003]), 100);
    assert.equal(fullestTenth(Array.from({ length: 10 }, (_, i) => 1000 + i * 100)), 10);
  });
});
