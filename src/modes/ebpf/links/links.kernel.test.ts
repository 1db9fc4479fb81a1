import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { EbpfLab } from '../../../../test/support/ebpf-mode.ts';
import { service, slice } from '../../../../test/support/objects.ts';
import { TestSocket } from '../../../../test/support/test-socket.ts';
import { BpfLink, BpfMap, PinFolder } from '../../../kernel/bpf/index.ts';
import { KernelError } from '../../../kernel/errors.ts';
import type { Ip } from '../../../net/index.ts';
import { encodeSlot, mapSpec } from '../programs/index.ts';

const ENDPOINT = { ip: '10.244.1.2' as Ip, port: 8080 };
const LEAST = service('least', {
  clusterIP: '10.96.0.10',
  annotations: { 'pointsman.dev/balance': 'least-connections' },
});

function refuse(): never {
  throw new KernelError('KERNEL_REFUSED', { operation: 'a call', errno: 'ENOMEM' });
}

async function failWrite(lab: EbpfLab, context: TestContext): Promise<void> {
  const mock = context.mock.method(BpfMap.prototype, 'updateBatch', refuse);
  lab.harness.set(service('other', { clusterIP: '10.96.0.99' }));
  await lab.harness.sync({}, ['IPv4']);
  mock.mock.restore();
}

/** What the pinned map counts for the endpoint. */
function countOf(lab: EbpfLab): number | undefined {
  const fd = new PinFolder(lab.folder).open('active4');
  if (fd === undefined) return undefined;
  const map = BpfMap.of(fd, mapSpec('active4', 65_536));
  try {
    return map.lookup(encodeSlot(ENDPOINT))?.readUInt32LE();
  } finally {
    map.close();
  }
}

async function openThree(lab: EbpfLab): Promise<readonly TestSocket[]> {
  lab.harness.set(LEAST, slice('least-1', [ENDPOINT.ip]));
  await lab.harness.sync();
  const sockets = [1, 2, 3].map(() => new TestSocket(lab.network.namespace, 'IPv4'));
  for (const socket of sockets) assert.equal(socket.connect('10.96.0.10' as Ip, 80), 'connected');
  assert.equal(countOf(lab), 3);
  return sockets;
}

describe('EBPF-42 counts of least connections', () => {
  test('EBPF-42 counts begin anew after a time in which no program ran', context =>
    EbpfLab.with(async lab => {
      const sockets = await openThree(lab);
      await failWrite(lab, context);
      for (const socket of sockets) socket.close();
      await lab.harness.sync();
      assert.equal(lab.harness.mode.condition().isServing, true);
      assert.equal(countOf(lab), 0);
    }));

  test('EBPF-42 counts begin anew if the program was detached that counts connections off', () =>
    EbpfLab.with(async lab => {
      const sockets = await openThree(lab);
      const link = BpfLink.of(new PinFolder(lab.folder).open('link-release') ?? assert.fail('there is no pin'));
      link.detach();
      link.close();
      for (const socket of sockets) socket.close();
      await lab.harness.mode.lookForDrift('quick');
      assert.equal(countOf(lab), 0);
      lab.ask('10.96.0.10');
      assert.equal(countOf(lab), 0);
    }));

  test('EBPF-42 sockets from before are no longer counted, so the counts stay right while they close', context =>
    EbpfLab.with(async lab => {
      const before = await openThree(lab);
      await failWrite(lab, context);
      await lab.harness.sync();
      assert.equal(countOf(lab), 0);
      const after = [1, 2].map(() => new TestSocket(lab.network.namespace, 'IPv4'));
      for (const socket of after) assert.equal(socket.connect('10.96.0.10' as Ip, 80), 'connected');
      assert.equal(countOf(lab), 2);
      for (const socket of before) socket.close();
      assert.equal(countOf(lab), 2);
      for (const socket of after) socket.close();
      assert.equal(countOf(lab), 0);
    }));

  test('EBPF-42 endpoints for which the map has no room are served without counts', context =>
    EbpfLab.with(async lab => {
      const real = BpfMap.prototype.update;
      context.mock.method(BpfMap.prototype, 'update', function (this: BpfMap, ...entry: Parameters<typeof real>) {
        if (this.spec.name !== 'active4') return real.apply(this, entry);
        throw new KernelError('KERNEL_REFUSED', { operation: 'bpf MAP_UPDATE_ELEM active4', errno: 'E2BIG' });
      });
      lab.harness.set(LEAST, slice('least-1', [ENDPOINT.ip]));
      await lab.harness.sync();
      assert.equal(lab.ask('10.96.0.10'), ENDPOINT.ip);
      assert.deepEqual(lab.lines, []);
    }));

  test('EBPF-42 counts go on in a new process', () =>
    EbpfLab.with(async lab => {
      const sockets = await openThree(lab);
      await lab.harness.restart();
      assert.equal(countOf(lab), 3);
      for (const socket of sockets) socket.close();
      assert.equal(countOf(lab), 0);
    }));
});

test('EBPF-40 a write that fails takes the programs away, also if their pins cannot be removed', context =>
  EbpfLab.with(async lab => {
    lab.harness.set(LEAST, slice('least-1', [ENDPOINT.ip]));
    await lab.harness.sync();
    const mocks = [context.mock.method(PinFolder.prototype, 'unpin', refuse)];
    mocks.push(context.mock.method(PinFolder.prototype, 'open', refuse));
    await failWrite(lab, context);
    for (const { mock } of mocks) mock.restore();
    assert.equal(lab.ask('10.96.0.10'), 'ENETUNREACH');
    await lab.harness.sync();
    assert.equal(lab.ask('10.96.0.10'), ENDPOINT.ip);
  }));
