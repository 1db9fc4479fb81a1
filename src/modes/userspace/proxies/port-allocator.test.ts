import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KernelError } from '../../../kernel/errors.ts';
import { PortAllocator } from './port-allocator.ts';

const echo = (port: number) => port;

test('USER-4 an empty range is an error', () => {
  assert.throws(() => new PortAllocator({ first: 2, last: 1 }), RangeError);
});

test('USER-4 without a range the kernel chooses the port', () => {
  const ports = new PortAllocator();
  assert.equal(ports.open(echo).opened, 0);
  ports.release(0);
  assert.equal(ports.open(echo).opened, 0);
});

test('USER-4 the only port of a range is given once, and again after its release', () => {
  const ports = new PortAllocator({ first: 1, last: 1 });
  assert.equal(ports.open(echo).port, 1);
  assert.throws(() => ports.open(echo), /no ports remaining in the port range 1-1/);
  ports.release(1);
  assert.equal(ports.open(echo).port, 1);
});

test('USER-4 each port of a range is given once, in another order each time', () => {
  const ports = new PortAllocator({ first: 100, last: 199 });
  const round = () => Array.from({ length: 100 }, () => ports.open(echo).port);
  const first = round();
  assert.equal(new Set(first).size, 100);
  assert.ok(first.every(port => port >= 100 && port <= 199));
  for (const port of first) ports.release(port);
  const starts = new Set<number | undefined>();
  for (let i = 0; i < 20; i++) {
    const again = round();
    starts.add(again[0]);
    for (const port of again) ports.release(port);
  }
  assert.ok(starts.size > 1);
});

const failing = (errno: string) => new KernelError('KERNEL_REFUSED', { operation: 'bind', errno });

test('USER-4 a port that another program has is skipped, and stays free for later', () => {
  for (const errno of ['EADDRINUSE', 'EACCES']) {
    const ports = new PortAllocator({ first: 1, last: 2 }, () => 0);
    const busy = (port: number) => {
      if (port === 1) throw failing(errno);
      return port;
    };
    assert.equal(ports.open(busy).port, 2);
    assert.throws(() => ports.open(busy), new RegExp(errno));
    assert.equal(ports.open(echo).port, 1);
  }
});

test('USER-4 an error that is not about the port ends the search at once', () => {
  for (const error of [failing('EMFILE'), new Error('oops')]) {
    const ports = new PortAllocator({ first: 1, last: 1000 });
    let tried = 0;
    const open = () => {
      tried += 1;
      throw error;
    };
    assert.throws(() => ports.open(open), error);
    assert.equal(tried, 1);
  }
});
