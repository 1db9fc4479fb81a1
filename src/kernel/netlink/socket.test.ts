import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KernelError } from '../errors.ts';
import { MessageType } from './ack.ts';
import { type MonitorHandlers, NetlinkMonitor } from './monitor.ts';
import { NetlinkSocket } from './socket.ts';
import type { Transport } from './transport.ts';
import { MessageWriter } from './writer.ts';

/** A transport whose answers the test chooses. */
class FakeTransport implements Transport {
  readonly sent: Buffer[] = [];
  readonly inbox: (Buffer | Error)[] = [];
  onSend: (bytes: Uint8Array) => void = () => {};
  onReadable: () => void = () => {};
  background: Promise<void> = Promise.resolve();
  closed = false;

  send(bytes: Uint8Array): void {
    this.sent.push(Buffer.from(bytes));
    this.onSend(bytes);
  }
  async sendInBackground(bytes: Uint8Array): Promise<void> {
    this.sent.push(Buffer.from(bytes));
    await this.background;
    this.onSend(bytes);
  }
  receive(): Buffer | undefined {
    const next = this.inbox.shift();
    if (next instanceof Error) throw next;
    return next;
  }
  join(): void {}
  poll(onReadable: () => void) {
    this.onReadable = onReadable;
    return { close: () => {} };
  }
  close(): void {
    this.closed = true;
  }
}

const OVERRUN = new KernelError('KERNEL_OVERRUN', { operation: 'receive', errno: 'ENOBUFS' });

function message(type: number, sequence: number, body: Buffer, flags = 0): Buffer {
  return Buffer.from(new MessageWriter().begin(type, flags, sequence).struct(body).end().bytes);
}

function ack(sequence: number, errno = 0): Buffer {
  const body = Buffer.alloc(20);
  body.writeInt32LE(-errno, 0);
  return message(MessageType.ERROR, sequence, body);
}

const OBJECT = 77;
const noAttributes = () => {};

describe('requests', () => {
  test("KERNEL-3 a refused request throws the kernel's error", () => {
    const transport = new FakeTransport();
    const socket = new NetlinkSocket(transport);
    transport.onSend = () => transport.inbox.push(ack(1, 17));
    assert.throws(() => socket.request('add x', 1, 0, noAttributes), {
      code: 'KERNEL_REFUSED',
      errno: 'EEXIST',
      operation: 'add x',
    });
  });

  test('KERNEL-3 a missing acknowledgement is an error', () => {
    assert.throws(() => new NetlinkSocket(new FakeTransport()).request('add x', 1, 0, noAttributes), {
      code: 'KERNEL_PROTOCOL',
    });
  });

  test('KERNEL-7 lost answers are an overrun', () => {
    const transport = new FakeTransport();
    transport.inbox.push(OVERRUN);
    assert.throws(() => new NetlinkSocket(transport).request('add x', 1, 0, noAttributes), { code: 'KERNEL_OVERRUN' });
  });

  test('KERNEL-3 answers to an earlier exchange are ignored', () => {
    const transport = new FakeTransport();
    transport.inbox.push(ack(999, 17), ack(1));
    assert.deepEqual(new NetlinkSocket(transport).request('add x', 1, 0, noAttributes), []);
  });

  test('KERNEL-5 a request during a send in the background does not take the answers of that send', async () => {
    const transport = new FakeTransport();
    const socket = new NetlinkSocket(transport);
    const first = socket.reserveSequence(2);
    let release = () => {};
    transport.background = new Promise(resolve => {
      release = resolve;
    });
    const exchange = socket.exchange(Buffer.alloc(100_000), first, 2);
    await Promise.resolve();
    transport.inbox.push(ack(first, 17));
    transport.onSend = () => transport.inbox.push(ack(first + 2));
    socket.request('get y', 1, 0, noAttributes);
    transport.onSend = () => transport.inbox.push(ack(first + 1));
    release();
    const { acks } = await exchange;
    assert.deepEqual(
      acks.map(({ sequence, errno }) => [sequence, errno]),
      [
        [first, 'EEXIST'],
        [first + 1, undefined],
      ],
    );
  });

  test('KERNEL-5 exchanges wait for each other, also after one of them failed', async () => {
    const transport = new FakeTransport();
    const socket = new NetlinkSocket(transport);
    transport.inbox.push(OVERRUN);
    const failed = socket.exchange(Buffer.alloc(4), socket.reserveSequence(), 1);
    const next = socket.reserveSequence();
    const second = socket.exchange(Buffer.alloc(4), next, 1);
    await assert.rejects(failed, { code: 'KERNEL_OVERRUN' });
    transport.inbox.push(ack(next));
    await assert.doesNotReject(second);
    assert.equal(transport.sent.length, 2);
  });
});

describe('dumps', () => {
  const done = (sequence: number, errno = 0, flags = 0) => {
    const body = Buffer.alloc(4);
    body.writeInt32LE(-errno, 0);
    return message(MessageType.DONE, sequence, body, flags);
  };
  const dump = (...datagrams: Buffer[]) => {
    const transport = new FakeTransport();
    transport.inbox.push(...datagrams);
    return [...new NetlinkSocket(transport).dump('list', 1, noAttributes)].map(({ body }) => body.readUInt32LE(0));
  };
  const object = (n: number, flags = 0) => message(OBJECT, 1, Buffer.from([n, 0, 0, 0]), flags);

  test('KERNEL-5 a dump yields every object of every datagram', () => {
    assert.deepEqual(dump(Buffer.concat([object(1), object(2)]), object(3), done(1)), [1, 2, 3]);
  });

  test('KERNEL-7 a dump during which the objects changed is an error', () => {
    assert.throws(() => dump(object(1, 0x10), done(1)), { code: 'KERNEL_INTERRUPTED' });
  });

  test('KERNEL-7 a dump without its end message is an error', () => {
    assert.throws(() => dump(object(1)), { code: 'KERNEL_PROTOCOL' });
  });

  test('KERNEL-3 a dump whose end message has an errno is an error', () => {
    assert.throws(() => dump(object(1), done(1, 12)), { code: 'KERNEL_REFUSED', errno: 'ENOMEM' });
  });
});

describe('monitors', () => {
  function listen(handlers: Partial<MonitorHandlers> = {}) {
    const transport = new FakeTransport();
    const reports: string[] = [];
    const monitor = new NetlinkMonitor(transport, [1], {
      message: ({ type }) => reports.push(`message ${type}`),
      overrun: () => reports.push('overrun'),
      failed: error => reports.push(`failed: ${error.message}`),
      ...handlers,
    });
    return { transport, reports, monitor };
  }

  test('KERNEL-7 a monitor reports an overrun after the queued notifications, and continues to listen', () => {
    const { transport, reports, monitor } = listen();
    const queued = Array.from({ length: 300 }, () => message(6, 0, Buffer.alloc(0)));
    transport.inbox.push(message(5, 0, Buffer.alloc(0)), OVERRUN, ...queued);
    transport.onReadable();
    assert.ok(!reports.includes('overrun'), 'the kernel still drops notifications, and reports no second overrun');
    transport.onReadable();
    transport.inbox.push(message(7, 0, Buffer.alloc(0)));
    transport.onReadable();
    assert.deepEqual(reports, ['message 5', ...queued.map(() => 'message 6'), 'overrun', 'message 7']);
    monitor.close();
    assert.ok(transport.closed);
  });

  test('KERNEL-7 a monitor reports a failed socket once and closes it', () => {
    const { transport, reports } = listen();
    transport.inbox.push(new KernelError('KERNEL_SOCKET', { operation: 'receive', errno: 'EBADF' }));
    transport.onReadable();
    transport.onReadable();
    assert.deepEqual(reports, ['failed: receive: EBADF']);
    assert.ok(transport.closed);
  });

  test('KERNEL-7 a monitor reports a handler that throws as a failure', () => {
    const broken = () => assert.fail('broken handler');
    for (const handlers of [{ overrun: broken }, { message: broken }]) {
      const { transport, reports } = listen(handlers);
      transport.inbox.push('overrun' in handlers ? OVERRUN : message(5, 0, Buffer.alloc(0)));
      transport.onReadable();
      assert.deepEqual(reports, ['failed: broken handler']);
      assert.ok(transport.closed);
    }
  });
});
