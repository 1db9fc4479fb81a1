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
  readonly body: {
    readonly metadata: { readonly name: string };
    readonly series?: object;
    readonly note: string;
    readonly regarding: { readonly name: string };
  };
}

/** Gives one answer to each request, and the last answer to all further requests. */
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
    return { status: Number(answer), headers: {}, body: pieces('{"message":"no"}') };
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
      onLost: ({ reason }, cause) => lost.push(`${reason}: ${cause}`),
      random: () => 0.5,
    });
    open.push(recorder);
    const client = new FakeClient(...answers);
    return { clock, lost, recorder, client };
  }

  test('EVENTS-1 an Event has all fields of events.k8s.io/v1', async () => {
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

  test('EVENTS-1 an Event about a Service is in its namespace, and no two Events have the same name', async () => {
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

  test('EVENTS-1 an object whose name cannot be part of a name gets a UUID, and a long note is cut', async () => {
    const { clock, recorder, client } = setUp(201);
    recorder.attach(client);
    recorder.record({ ...BIRTH, regarding: nodeReference('Node_A'), note: `${'x'.repeat(1023)}ü and more` });
    await clock.advance(0);
    assert.match(client.sent[0]?.body.metadata.name ?? '', /^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    assert.equal(client.sent[0]?.body.note, `${'x'.repeat(1021)}…`);
  });

  test('EVENTS-1 no name and no note of an Event is longer than the API takes, or controls a terminal', async () => {
    const { clock, recorder, client } = setUp(201);
    recorder.attach(client);
    const long = 'x'.repeat(1 << 20);
    const regarding = serviceReference({ namespace: long, name: long, uid: long });
    recorder.record({ ...BIRTH, regarding, related: nodeReference(long), note: 'one\x1b[2J\ntwo\x9b' });
    await clock.advance(0);
    const [sent] = client.sent;
    assert.ok(JSON.stringify(sent?.body).length < 4096);
    assert.match(sent?.body.regarding.name ?? '', /^x+… \(1048576 characters\)$/);
    assert.equal(sent?.body.note, 'one\\x1b[2J\ntwo\\u009b');
    assert.ok((sent?.path.length ?? Infinity) < 1024);
  });

  test('EVENTS-2 a limited number of Events is kept until there is a client, in their order', async () => {
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

  test('EVENTS-3 a repeated Event becomes a series, written at once, every 30 minutes, and when it is over', async () => {
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
    assert.equal(clock.pending, 0, 'no timer is left');
  });

  test('EVENTS-3 after six minutes without a repeat it is a new Event', async () => {
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

  test('EVENTS-3 a series whose Event was deleted is written again as a whole', async () => {
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

  test('EVENTS-3 repeats before the first write go with it', async () => {
    const { clock, recorder, client } = setUp(201);
    recorder.record(BIRTH);
    recorder.record(BIRTH);
    recorder.record(BIRTH);
    recorder.attach(client);
    await clock.advance(0);
    assert.equal(client.sent.length, 1);
    assert.deepEqual(client.sent[0]?.body.series, { count: 3, lastObservedTime: '2026-05-04T10:00:00.123000Z' });
  });

  test('EVENTS-4 without an answer the recorder makes 12 attempts, about 10 s apart, and then gives up', async () => {
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

  test('EVENTS-4 the recorder retries if the server is busy or broken, but not if the server refuses', async () => {
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
    assert.deepEqual(refused.lost, ['Starting: the API server answered 403: {"message":"no"}']);
  });

  test('EVENTS-4 an Event that already exists counts as written', async () => {
    const { clock, lost, recorder, client } = setUp(409);
    recorder.attach(client);
    recorder.record(BIRTH);
    await clock.advance(MINUTE);
    assert.deepEqual([client.sent.length, lost], [1, []]);
  });

  test('EVENTS-4 an attempt takes at most 30 s', async () => {
    const { clock, recorder, client } = setUp('hangs', 201);
    recorder.attach(client);
    recorder.record(BIRTH);
    await clock.advance(30_000);
    assert.equal(client.sent.length, 1);
    await clock.advance(12_000);
    assert.equal(client.sent.length, 2);
  });

  test('EVENTS-5 25 different Events at once and then one every 10 s are written, and more are dropped and reported', async () => {
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

  test('EVENTS-5 the queue is limited', async () => {
    const { clock, lost, recorder } = setUp(201);
    for (let i = 0; i < 130; i++) {
      recorder.record({ ...BIRTH, reason: `R${i}` });
      await clock.advance(10_000);
    }
    assert.equal(lost.length, 30);
    assert.equal(lost[0], 'R100: too many events are queued');
  });

  test('EVENTS-6 closing writes the queued Events without a pause between attempts', async () => {
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

  test('EVENTS-6 closing takes no longer than its limit', async () => {
    const { clock, recorder, client } = setUp('hangs');
    recorder.attach(client);
    recorder.record(BIRTH);
    const closed = recorder.close(2000);
    await clock.advance(2000);
    await closed;
    assert.equal(clock.pending, 0);
  });

  test('EVENTS-6 recording does not throw, even if the listener for lost Events does', async () => {
    const recorder = new EventRecorder({
      reporter: REPORTER,
      clock: new ManualClock(),
      onLost: () => {
        throw new Error('no');
      },
    });
    open.push(recorder);
    for (let i = 0; i < 30; i++) recorder.record({ ...BIRTH, reason: `R${i}` });
  });
});
