import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import type { ApiClient, ApiRequest } from '../../client/index.ts';
import { type EventContent, EventRecorder, nodeReference, serviceReference } from './index.ts';

const START = Date.parse('2026-05-04T10:00:00.123Z');
const REPORTER = { controller: 'kube-proxy', instance: 'kube-proxy-host-a' };
const BIRTH: EventContent = {
  type: 'Normal',
  reason: 'Starting',
  action: 'StartKubeProxy',
  regarding: nodeReference('node-a'),
  note: '',
};
const MINUTE = 60_000;

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly contentType: string | undefined;
  readonly body: { readonly metadata: { readonly name: string }; readonly series?: object; readonly note: string };
}

/** An API server's answers, one for each request; the last goes on for ever. */
class FakeClient implements ApiClient {
  readonly sent: Sent[] = [];
  readonly #answers: (number | Error | 'hangs')[];

  constructor(...answers: (number | Error | 'hangs')[]) {
    this.#answers = answers;
  }

  async request({ method = 'GET', path, contentType, body, signal }: ApiRequest) {
    this.sent.push({ method, path, contentType, body: JSON.parse(Buffer.from(body ?? []).toString()) });
    const answer = (this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0]) ?? 201;
    if (answer instanceof Error) throw answer;
    if (answer === 'hangs') {
      await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));
    }
    return { status: Number(answer), headers: {}, body: pieces('{"message":"so it is"}') };
  }

  close(): void {}
}

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

describe('events', () => {
  const open: EventRecorder[] = [];
  afterEach(async () => {
    for (const recorder of open.splice(0)) await recorder.close(0);
  });

  function setUp(...answers: (number | Error | 'hangs')[]) {
    const clock = new ManualClock(START);
    const lost: string[] = [];
    const recorder = new EventRecorder({
      reporter: REPORTER,
      clock,
      lost: ({ reason }, why) => lost.push(`${reason}: ${why}`),
      random: () => 0.5,
    });
    open.push(recorder);
    const client = new FakeClient(...answers);
    return { clock, lost, recorder, client };
  }

  test('EVENTS-1 an event as it is written', async () => {
    const { clock, recorder, client } = setUp(201);
    recorder.attach(client);
    recorder.record(BIRTH);
    await clock.advance(0);
    assert.deepEqual(client.sent, [
      {
        method: 'POST',
        path: '/apis/events.k8s.io/v1/namespaces/default/events',
        contentType: 'application/json',
        body: {
          kind: 'Event',
          apiVersion: 'events.k8s.io/v1',
          metadata: { name: `node-a.${(BigInt(START) * 1_000_000n).toString(16)}`, namespace: 'default' },
          eventTime: '2026-05-04T10:00:00.123000Z',
          reportingController: 'kube-proxy',
          reportingInstance: 'kube-proxy-host-a',
          action: 'StartKubeProxy',
          reason: 'Starting',
          regarding: { apiVersion: 'v1', kind: 'Node', name: 'node-a' },
          note: '',
          type: 'Normal',
        },
      },
    ]);
  });

  test('EVENTS-1 an event about a Service is in its namespace; names never repeat', async () => {
    const { clock, recorder, client } = setUp(201);
    recorder.attach(client);
    for (const name of ['a', 'b']) {
      const regarding = serviceReference({ namespace: 'ns', name: 'web', uid: name });
      recorder.record({ ...BIRTH, regarding, related: nodeReference('node-a') });
    }
    await clock.advance(0);
    assert.deepEqual(
      new Set(client.sent.map(({ path }) => path)),
      new Set(['/apis/events.k8s.io/v1/namespaces/ns/events']),
    );
    assert.equal(new Set(client.sent.map(({ body }) => body.metadata.name)).size, 2);
  });

  test('EVENTS-1 an object whose name makes no event name gets a UUID; a note is cut to what the API takes', async () => {
    const { clock, recorder, client } = setUp(201);
    recorder.attach(client);
    recorder.record({ ...BIRTH, regarding: nodeReference('Node_A'), note: `${'x'.repeat(1023)}ü and more` });
    await clock.advance(0);
    assert.match(client.sent[0]?.body.metadata.name ?? '', /^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    assert.equal(client.sent[0]?.body.note, 'x'.repeat(1023));
  });

  test('EVENTS-2 events from before there is somewhere to write are kept, in order and up to a number', async () => {
    const { clock, lost, recorder, client } = setUp(201);
    for (let i = 0; i < 30; i++) recorder.record({ ...BIRTH, reason: `R${i}` });
    assert.deepEqual(
      lost,
      ['R25', 'R26', 'R27', 'R28', 'R29'].map(reason => `${reason}: too many events`),
    );
    recorder.attach(client);
    await clock.advance(0);
    await clock.advance(0);
    assert.equal(client.sent.length, 25);
  });

  test('EVENTS-3 a repeat becomes a series, told once, then every 30 minutes, and when it is over', async () => {
    const { clock, recorder, client } = setUp(201);
    recorder.attach(client);
    recorder.record(BIRTH);
    await clock.advance(MINUTE);
    for (let minute = 1; minute <= 35; minute++) {
      recorder.record({ ...BIRTH, note: `again, ${minute}` });
      await clock.advance(MINUTE);
    }
    await clock.advance(10 * MINUTE);
    const name = client.sent[0]?.body.metadata.name;
    const series = client.sent.slice(1);
    assert.deepEqual(
      series.map(({ method, path, contentType }) => ({ method, path, contentType })),
      Array.from({ length: 3 }, () => ({
        method: 'PATCH',
        path: `/apis/events.k8s.io/v1/namespaces/default/events/${name}`,
        contentType: 'application/strategic-merge-patch+json',
      })),
    );
    assert.deepEqual(
      series.map(({ body }) => body),
      [
        { series: { count: 2, lastObservedTime: '2026-05-04T10:01:00.123000Z' } },
        { series: { count: 31, lastObservedTime: '2026-05-04T10:30:00.123000Z' } },
        { series: { count: 36, lastObservedTime: '2026-05-04T10:35:00.123000Z' } },
      ],
    );
    assert.equal(clock.pending, 0, 'nothing is left to wait for');
  });

  test('EVENTS-3 after six quiet minutes it is a new event', async () => {
    const { clock, recorder, client } = setUp(201);
    recorder.attach(client);
    recorder.record(BIRTH);
    await clock.advance(6 * MINUTE);
    recorder.record(BIRTH);
    await clock.advance(0);
    assert.deepEqual(
      client.sent.map(({ method }) => method),
      ['POST', 'POST'],
    );
  });

  test('EVENTS-3 a series whose event is gone is written anew, whole', async () => {
    const { clock, recorder, client } = setUp(201, 404, 201);
    recorder.attach(client);
    recorder.record(BIRTH);
    await clock.advance(0);
    recorder.record(BIRTH);
    await clock.advance(0);
    assert.deepEqual(
      client.sent.map(({ method }) => method),
      ['POST', 'PATCH', 'POST'],
    );
    assert.deepEqual(client.sent[2]?.body.series, { count: 2, lastObservedTime: '2026-05-04T10:00:00.123000Z' });
  });

  test('EVENTS-3 repeats before the first was written go with it', async () => {
    const { clock, recorder, client } = setUp(201);
    recorder.record(BIRTH);
    recorder.record(BIRTH);
    recorder.record(BIRTH);
    recorder.attach(client);
    await clock.advance(0);
    assert.equal(client.sent.length, 1);
    assert.deepEqual(client.sent[0]?.body.series, { count: 3, lastObservedTime: '2026-05-04T10:00:00.123000Z' });
  });

  test('EVENTS-4 without an answer it is tried 12 times, some 10 s apart, and then given up', async () => {
    const { clock, lost, recorder, client } = setUp(new Error('connection refused'));
    recorder.attach(client);
    recorder.record(BIRTH);
    await clock.advance(11_249);
    assert.equal(client.sent.length, 1);
    await clock.advance(1);
    assert.equal(client.sent.length, 2);
    await clock.advance(20 * MINUTE);
    assert.equal(client.sent.length, 12);
    assert.deepEqual(lost, ['Starting: connection refused']);
  });

  test('EVENTS-4 a server that is busy or broken is asked again, one that refuses is not', async () => {
    const busy = setUp(429, 503, 201);
    busy.recorder.attach(busy.client);
    busy.recorder.record(BIRTH);
    await busy.clock.advance(MINUTE);
    assert.equal(busy.client.sent.length, 3);
    assert.deepEqual(busy.lost, []);
    const refused = setUp(403);
    refused.recorder.attach(refused.client);
    refused.recorder.record(BIRTH);
    await refused.clock.advance(MINUTE);
    assert.equal(refused.client.sent.length, 1);
    assert.deepEqual(refused.lost, ['Starting: the API server answered 403: {"message":"so it is"}']);
  });

  test('EVENTS-4 an event that is there already was written', async () => {
    const { clock, lost, recorder, client } = setUp(409);
    recorder.attach(client);
    recorder.record(BIRTH);
    await clock.advance(MINUTE);
    assert.deepEqual([client.sent.length, lost], [1, []]);
  });

  test('EVENTS-4 an answer that does not come is not waited for longer than 30 s', async () => {
    const { clock, recorder, client } = setUp('hangs', 201);
    recorder.attach(client);
    recorder.record(BIRTH);
    await clock.advance(30_000);
    assert.equal(client.sent.length, 1);
    await clock.advance(12_000);
    assert.equal(client.sent.length, 2);
  });

  test('EVENTS-5 too many different events are dropped and told: 25 at once, then one every 10 s', async () => {
    const { clock, lost, recorder, client } = setUp(201);
    recorder.attach(client);
    for (let i = 0; i < 27; i++) recorder.record({ ...BIRTH, reason: `R${i}` });
    assert.equal(lost.length, 2);
    await clock.advance(10_000);
    recorder.record({ ...BIRTH, reason: 'Later' });
    recorder.record({ ...BIRTH, reason: 'TooSoon' });
    await clock.advance(0);
    assert.equal(client.sent.length, 26);
    assert.equal(lost.at(-1), 'TooSoon: too many events');
  });

  test('EVENTS-5 what waits is bounded', async () => {
    const { clock, lost, recorder } = setUp(201);
    for (let i = 0; i < 130; i++) {
      recorder.record({ ...BIRTH, reason: `R${i}` });
      await clock.advance(10_000);
    }
    assert.equal(lost.length, 30);
    assert.equal(lost[0], 'R100: too many events wait');
  });

  test('EVENTS-6 closing writes what waits, without waiting between tries', async () => {
    const { clock, recorder, client } = setUp(new Error('refused'), 201);
    recorder.attach(client);
    recorder.record(BIRTH);
    await clock.advance(0);
    recorder.record({ ...BIRTH, reason: 'FailedToStartMetricServer' });
    await recorder.close();
    assert.equal(client.sent.length, 3);
    assert.equal(clock.pending, 0);
    recorder.record({ ...BIRTH, reason: 'TooLate' });
    await clock.advance(0);
    assert.equal(client.sent.length, 3);
  });

  test('EVENTS-6 closing takes no longer than it may', async () => {
    const { clock, recorder, client } = setUp('hangs');
    recorder.attach(client);
    recorder.record(BIRTH);
    const closed = recorder.close(2000);
    await clock.advance(2000);
    await closed;
    assert.equal(clock.pending, 0);
  });

  test('EVENTS-6 recording never throws, whatever hears of losses', async () => {
    const recorder = new EventRecorder({
      reporter: REPORTER,
      clock: new ManualClock(),
      lost: () => {
        throw new Error('no');
      },
    });
    open.push(recorder);
    for (let i = 0; i < 30; i++) recorder.record({ ...BIRTH, reason: `R${i}` });
  });
});
